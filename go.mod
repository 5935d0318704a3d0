module pinyon

go 1.26.0

require (
	github.com/bits-and-blooms/bitset v1.29.0
	github.com/google/go-cmp v0.7.0 // tests
	github.com/rogpeppe/go-internal v1.16.0 // tests: testscript
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9 // cobra's flags, to tell which were given
	go.etcd.io/raft/v3 v3.7.0 // fixture stores only: the consensus under kvraft and its kin
	golang.org/x/term v0.48.0
	google.golang.org/protobuf v1.36.11 // fixture stores only: the bytes of raft's messages and log entries
	gopkg.in/yaml.v3 v3.0.1 // oracles; nodes with positions, for errors
	pgregory.net/rapid v1.3.0 // tests
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/tools v0.26.0 // indirect
)

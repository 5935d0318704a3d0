package kvstores

// hintStores are the stores of protocols whose hints are more than a number.
func hintStores() []Store { return []Store{kvgryff(), kvzab(), kvepaxos(), kvepaxosRevisited()} }

package txn

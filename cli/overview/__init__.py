"""`labledger overview`: the requests, the document and the screen of the state of the labs."""

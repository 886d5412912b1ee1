"""Fresh processes that run a framework, and the records that they leave."""

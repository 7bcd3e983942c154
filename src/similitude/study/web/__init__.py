"""What is seen: the server's application, the interface of raters, the pages."""

"""Where definitions come from: files, live servers, installed clients. Nothing here judges them."""

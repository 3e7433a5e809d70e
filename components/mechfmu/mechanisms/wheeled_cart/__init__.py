"""The wheeled cart: the plant."""

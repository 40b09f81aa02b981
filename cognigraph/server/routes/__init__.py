"""The routes, by what they are about. Each calls one operation of the library."""

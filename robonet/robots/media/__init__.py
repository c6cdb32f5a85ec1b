"""What robots reach each other through, computed once a step for all: messages with a place, coloured lights."""

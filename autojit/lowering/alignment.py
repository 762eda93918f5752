"""What XLA asks of memory that it reads in place."""

#: Addresses must be multiples of this.
ALIGNMENT = 64

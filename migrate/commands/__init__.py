"""The commands of the stages: options, a call, and what is printed; nothing below imports them."""

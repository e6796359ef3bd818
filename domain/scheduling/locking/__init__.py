"""Resource locks that started sets hold and waiting sets want, and who may have them next."""

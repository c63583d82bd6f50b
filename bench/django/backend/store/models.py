from decimal import Decimal

from django.conf import settings
from django.db import models


class Product(models.Model):
    name = models.CharField(max_length=80)
    slug = models.SlugField(unique=True)
    category = models.CharField(max_length=40)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    stock = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ['name']

    def __str__(self):
        return self.name


class Coupon(models.Model):
    code = models.CharField(max_length=20, unique=True)
    percent = models.PositiveIntegerField()


class Order(models.Model):
    OPEN, CANCELLED = 'open', 'cancelled'

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name='orders')
    placed_at = models.DateTimeField(auto_now_add=True)
    address = models.CharField(max_length=200)
    note = models.CharField(max_length=200, blank=True)
    percent = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, default=OPEN)

    class Meta:
        ordering = ['-placed_at', '-id']

    @property
    def total(self):
        full = sum((line.price * line.quantity for line in self.lines.all()), Decimal('0'))
        return (full * (100 - self.percent) / 100).quantize(Decimal('0.01'))


class Line(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name='lines')
    product = models.ForeignKey(Product, on_delete=models.PROTECT)
    quantity = models.PositiveIntegerField()
    price = models.DecimalField(max_digits=8, decimal_places=2)

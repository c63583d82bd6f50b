from django.urls import path

from . import api, views

urlpatterns = [
    path('', views.catalogue, name='catalogue'),
    path('products/<slug:slug>', views.product, name='product'),
    path('cart', views.cart, name='cart'),
    path('checkout', views.checkout, name='checkout'),
    path('orders', views.orders, name='orders'),
    path('orders/<int:number>', views.order, name='order'),
    path('orders/<int:number>/cancel', views.cancel, name='cancel'),
    path('login', views.sign_in, name='login'),
    path('logout', views.sign_out, name='logout'),
    path('api/cart', api.add_to_cart, name='api-cart'),
    path('api/stock/<slug:slug>', api.stock, name='api-stock'),
]

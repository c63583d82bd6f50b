def cart(request):
    """The number of things in the cart, for the header of every page."""
    return {'cart_count': sum(request.session.get('cart', {}).values())}

import logging

from django.shortcuts import render

logger = logging.getLogger('django.request')


class FriendlyErrors:
    """Shows one page for every error, and logs what it was."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        return self.get_response(request)

    def process_exception(self, request, exception):
        logger.error('%s %s failed', request.method, request.path, exc_info=exception)
        return render(request, 'store/error.html', status=500)

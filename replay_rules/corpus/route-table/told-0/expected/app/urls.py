from django.urls import path

from . import views

urlpatterns = [
    path("", views.home),
    path("about/", views.about),
    path("cart/", views.cart),
    path("help/", views.help),
]

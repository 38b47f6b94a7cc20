from django.urls import path

from app import views

urlpatterns = [
    path("hazel/", views.hazel),
    path("orchid/", views.orchid),
    path("topaz/", views.topaz),
    path("falcon/", views.falcon),
    path("drift/", views.drift),
    path("oasis/", views.oasis),
    path("otter/", views.otter),
]

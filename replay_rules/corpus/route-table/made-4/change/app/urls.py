from django.urls import path

from app import views

urlpatterns = [
    path("pepper/", views.pepper),
    path("tidal/", views.tidal),
    path("anchor/", views.anchor),
    path("iris/", views.iris),
    path("sorrel/", views.sorrel),
    path("sage/", views.sage),
    path("mistral/", views.mistral),
]

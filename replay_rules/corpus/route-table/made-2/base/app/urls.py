from django.urls import path

from app import views

urlpatterns = [
    path("indigo/", views.indigo),
    path("velvet/", views.velvet),
    path("orchid/", views.orchid),
    path("cobalt/", views.cobalt),
    path("tarn/", views.tarn),
]

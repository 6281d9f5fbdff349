package com.example.shop

/** Made by Gradle from the properties of the sample. */
object BuildConfig {
    val CARILLON_APP_KEY: String = TODO()
    val CARILLON_URL: String = TODO()
}

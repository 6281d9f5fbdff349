package com.example.shop

import android.content.Context
import android.net.Uri
import dev.carillon.Carillon

/** The Carillon that this app belongs to: of the link that the console shows as a QR code, else of gradle.properties. */
object Service {
    fun start(context: Context) {
        val stored = context.getSharedPreferences("service", Context.MODE_PRIVATE)
        val key = stored.getString("key", null) ?: BuildConfig.CARILLON_APP_KEY
        val host = stored.getString("host", null) ?: BuildConfig.CARILLON_URL
        Carillon.start(context, key, host)
    }

    /** Only a sample changes its service by a link: in a real app a stranger's QR code could take its users over. */
    fun connect(context: Context, link: Uri): Boolean {
        val key = link.getQueryParameter("key") ?: return false
        val host = link.getQueryParameter("host") ?: return false
        Carillon.start(context, key, host)
        val stored = context.getSharedPreferences("service", Context.MODE_PRIVATE)
        stored.edit().putString("key", key).putString("host", host).commit()
        return true
    }
}

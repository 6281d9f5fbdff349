package com.example.shop

import android.app.Application
import android.app.NotificationChannel
import android.app.NotificationManager
import android.content.Context
import android.os.Build

class ShopApplication : Application() {
    override fun onCreate() {
        super.onCreate()
        if (Build.VERSION.SDK_INT >= 26) {
            val manager = getSystemService(Context.NOTIFICATION_SERVICE) as NotificationManager
            manager.createNotificationChannel(
                NotificationChannel("offers", "Offers", NotificationManager.IMPORTANCE_HIGH),
            )
        }
        // Here, because a message starts the app without any of its activities.
        Service.start(this)
    }
}

package dev.carillon

import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.net.Uri
import android.os.Bundle
import dev.carillon.core.Button
import dev.carillon.core.CarillonMessage

/** Intents of a notification. Each contains the message, and the button that was tapped. */
internal object PendingIntents {
    private const val FLAGS = PendingIntent.FLAG_IMMUTABLE or PendingIntent.FLAG_UPDATE_CURRENT
    private const val DATA = "carillon.data"
    private const val TYPE = "carillon.type"
    private const val VALUE = "carillon.value"

    fun open(context: Context, message: CarillonMessage, button: Button? = null): PendingIntent {
        val intent = fill(Intent(context, OpenActivity::class.java), message, button)
        intent.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK)
        return PendingIntent.getActivity(context, 0, intent, FLAGS)
    }

    fun broadcast(
        context: Context,
        message: CarillonMessage,
        action: String,
        button: Button? = null,
    ): PendingIntent {
        val intent = fill(Intent(context, ActionReceiver::class.java).setAction(action), message, button)
        return PendingIntent.getBroadcast(context, 0, intent, FLAGS)
    }

    fun messageOf(context: Context, intent: Intent): CarillonMessage? {
        val bundle = intent.getBundleExtra(DATA) ?: return null
        val data = bundle.keySet().mapNotNull { key -> bundle.getString(key)?.let { key to it } }.toMap()
        return CarillonMessage.read(data, CarillonOptions.read(context).format)
    }

    fun buttonOf(intent: Intent): Button? {
        val type = intent.getStringExtra(TYPE) ?: return null
        return Button(type, "", intent.getStringExtra(VALUE).orEmpty())
    }

    private fun fill(intent: Intent, message: CarillonMessage, button: Button?): Intent {
        val bundle = Bundle()
        for ((key, value) in message.data) bundle.putString(key, value)
        // Android compares intents by their addresses, not by their extras.
        intent.data = Uri.Builder().scheme("carillon").authority(message.id)
            .appendPath(button?.type ?: "message").appendPath(button?.value.orEmpty()).build()
        intent.putExtra(DATA, bundle)
        if (button != null) intent.putExtra(TYPE, button.type).putExtra(VALUE, button.value)
        return intent
    }
}

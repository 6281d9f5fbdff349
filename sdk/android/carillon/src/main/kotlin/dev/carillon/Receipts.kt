package dev.carillon

import android.content.Context
import dev.carillon.core.CarillonMessage
import dev.carillon.core.ReceiptType

/** Reports what happened to a message. The queue of the core sends it, with events and sign-ins. */
internal object Receipts {
    fun send(context: Context, message: CarillonMessage, type: ReceiptType, action: String? = null) {
        val token = message.reportToken ?: return
        Carillon.core(context).receipt(token, type, action)
    }
}

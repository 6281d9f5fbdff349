package dev.carillon

import android.content.Context

/** The last 200 ids of one kind, which outlive the process. */
internal class SeenMessages(context: Context, private val kind: String) {
    private val stored = context.getSharedPreferences("carillon-seen", Context.MODE_PRIVATE)

    /** Returns false for an id that was added before. */
    fun add(id: String): Boolean = synchronized(lock) {
        val ids = stored.getString(kind, "").orEmpty().split('\n').filter { it.isNotEmpty() }
        if (id in ids) return@synchronized false
        // Stored before the message is shown: a process that dies here loses one message rather than showing it twice.
        stored.edit().putString(kind, (ids + id).takeLast(MAX_IDS).joinToString("\n")).commit()
        true
    }

    private companion object {
        const val MAX_IDS = 200
        val lock = Any()
    }
}

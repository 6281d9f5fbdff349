package dev.carillon.receiver

import android.content.Context

/** The last ids of one kind, which outlive the process. */
internal class SeenMessages(context: Context, private val kind: String) {
    private val stored = context.getSharedPreferences("carillon-seen", Context.MODE_PRIVATE)

    /** False for an id that was added before. */
    fun add(id: String): Boolean = synchronized(lock) {
        val ids = stored.getString(kind, "").orEmpty().split('\n').filter { it.isNotEmpty() }
        if (id in ids) return@synchronized false
        // Stored before anything is shown: a process that dies here shows nothing rather than everything twice.
        stored.edit().putString(kind, (ids + id).takeLast(MOST).joinToString("\n")).commit()
        true
    }

    private companion object {
        const val MOST = 200
        val lock = Any()
    }
}

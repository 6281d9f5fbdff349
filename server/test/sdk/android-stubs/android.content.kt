@file:Suppress("UNUSED_PARAMETER", "unused")

package android.content

import android.content.pm.ApplicationInfo
import android.content.pm.PackageManager
import android.content.res.Resources
import android.net.Uri
import android.os.Bundle
import java.io.File

abstract class Context {
    val packageName: String get() = TODO()
    val packageManager: PackageManager get() = TODO()
    val resources: Resources get() = TODO()
    val applicationContext: Context get() = TODO()
    val applicationInfo: ApplicationInfo get() = TODO()
    val noBackupFilesDir: File get() = TODO()
    fun getString(id: Int, vararg arguments: Any): String = TODO()
    fun getSystemService(name: String): Any = TODO()
    fun getSharedPreferences(name: String, mode: Int): SharedPreferences = TODO()
    fun startActivity(intent: Intent) { TODO() }

    companion object {
        const val MODE_PRIVATE = 0
        const val CLIPBOARD_SERVICE = "clipboard"
        const val NOTIFICATION_SERVICE = "notification"
    }
}

interface SharedPreferences {
    fun getString(key: String, default: String?): String?
    fun edit(): Editor

    interface Editor {
        fun putString(key: String, value: String?): Editor
        fun commit(): Boolean
    }
}

class ComponentName

class Intent() {
    constructor(action: String) : this()
    constructor(action: String, uri: Uri) : this()
    constructor(context: Context, type: Class<*>) : this()

    val action: String? get() = TODO()
    var data: Uri? = TODO()
    val extras: Bundle? get() = TODO()
    fun setAction(action: String): Intent = TODO()
    fun setType(type: String): Intent = TODO()
    fun setPackage(name: String): Intent = TODO()
    fun setClassName(packageName: String, name: String): Intent = TODO()
    fun addFlags(flags: Int): Intent = TODO()
    fun putExtra(name: String, value: String): Intent = TODO()
    fun putExtra(name: String, value: Bundle): Intent = TODO()
    fun getStringExtra(name: String): String? = TODO()
    fun getBundleExtra(name: String): Bundle? = TODO()
    fun resolveActivity(manager: PackageManager): ComponentName? = TODO()

    companion object {
        const val ACTION_VIEW = "view"
        const val ACTION_DIAL = "dial"
        const val ACTION_SEND = "send"
        const val EXTRA_TEXT = "text"
        const val FLAG_ACTIVITY_NEW_TASK = 1
        fun createChooser(intent: Intent, title: CharSequence?): Intent = TODO()
    }
}

abstract class BroadcastReceiver {
    abstract fun onReceive(context: Context, intent: Intent)
}

class ActivityNotFoundException : RuntimeException()

class ClipData {
    companion object {
        fun newPlainText(label: CharSequence, text: CharSequence): ClipData = TODO()
    }
}

class ClipboardManager {
    fun setPrimaryClip(clip: ClipData) { TODO() }
}

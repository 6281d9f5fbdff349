@file:Suppress("UNUSED_PARAMETER", "unused")

package android.content.pm

import android.content.Intent
import android.os.Bundle

class PackageManager {
    fun getPackageInfo(name: String, flags: Int): PackageInfo = TODO()
    fun getApplicationInfo(name: String, flags: Int): ApplicationInfo = TODO()
    fun getApplicationLabel(info: ApplicationInfo): CharSequence = TODO()
    fun getLaunchIntentForPackage(name: String): Intent? = TODO()

    companion object {
        const val GET_META_DATA = 128
    }
}

class PackageInfo {
    val versionName: String? = TODO()
}

class ApplicationInfo {
    val metaData: Bundle? = TODO()
    val icon: Int = TODO()
}

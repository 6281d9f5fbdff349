package com.huawei.hms.common

class ApiException : Exception()

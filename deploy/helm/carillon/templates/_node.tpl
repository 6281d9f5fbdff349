{{- define "carillon.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "carillon.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "carillon.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "carillon.selector" . }}
{{- end }}

{{- define "carillon.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* What every pod has: an account without a name, no rights, no credential of the cluster. */}}
{{- define "carillon.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
# With them a pod gets CARILLON_PORT and the like for a service of this name: settings that are none, or wrong ones.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "carillon.container" -}}
image: {{ include "carillon.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop:
      - ALL
{{- end }}

{{- /* A node of one role, as a Deployment. Takes root, role and, of that role, its values. */}}
{{- define "carillon.node" -}}
{{- $root := .root }}
{{- $values := .root.Values }}
{{- $name := printf "%s-%s" (include "carillon.name" $root) .role }}
{{- $delay := .of.shutdownDelaySeconds | default 0 }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "carillon.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  {{- if not (and .of.autoscaling (.of.autoscaling).enabled) }}
  replicas: {{ .of.replicas }}
  {{- end }}
  # One at a time, and none less than there should be: a new node is ready before an old one is stopped.
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels:
      {{- include "carillon.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
  template:
    metadata:
      labels:
        {{- include "carillon.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .role }}
    spec:
      {{- include "carillon.pod" $root | nindent 6 }}
      # The longest orderly stop takes 90 seconds: requests, open windows, the last outcomes.
      terminationGracePeriodSeconds: {{ add 95 $delay }}
      {{- with .of.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .of.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .of.affinity }}
      affinity: {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "carillon.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ .role }}
      containers:
        - name: {{ .role }}
          {{- include "carillon.container" $root | nindent 10 }}
          args: [start, --production, --role, {{ .role }}]
          env:
            - { name: DATABASE_URL_FILE, value: /run/secrets/carillon/{{ $values.secretKeys.databaseUrl }} }
            - { name: CARILLON_MASTER_KEY_FILE, value: /run/secrets/carillon/{{ $values.secretKeys.masterKey }} }
            - { name: CARILLON_METRICS_PORT, value: '9464' }
            {{- if $delay }}
            - { name: CARILLON_SHUTDOWN_DELAY_SECONDS, value: {{ $delay | quote }} }
            {{- end }}
            {{- if and (eq .role "worker") $values.backup.existingClaim }}
            - { name: CARILLON_BACKUP_DIR, value: /backups }
            {{- end }}
            {{- range $variable, $value := $values.settings }}
            - { name: {{ $variable }}, value: {{ $value | quote }} }
            {{- end }}
            {{- range $variable, $key := $values.secretSettings }}
            - { name: {{ $variable }}_FILE, value: /run/secrets/carillon/{{ $key }} }
            {{- end }}
          ports:
            - { name: http, containerPort: 8080 }
            - { name: metrics, containerPort: 9464 }
          startupProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 3
            timeoutSeconds: 3
            failureThreshold: 2
          resources: {{- toYaml .of.resources | nindent 12 }}
          volumeMounts:
            - { name: secret, mountPath: /run/secrets/carillon, readOnly: true }
            - { name: data, mountPath: /var/lib/carillon }
            - { name: temporary, mountPath: /tmp }
            {{- if and (eq .role "worker") $values.backup.existingClaim }}
            - { name: backups, mountPath: /backups }
            {{- end }}
      volumes:
        - name: secret
          secret:
            secretName: {{ $values.existingSecret }}
            defaultMode: 0440
            # Not the owner's URL: a node has no rights over the tables.
            items:
              - { key: {{ $values.secretKeys.databaseUrl }}, path: {{ $values.secretKeys.databaseUrl }} }
              - { key: {{ $values.secretKeys.masterKey }}, path: {{ $values.secretKeys.masterKey }} }
              {{- range $variable, $key := $values.secretSettings }}
              - { key: {{ $key }}, path: {{ $key }} }
              {{- end }}
        - name: data
          emptyDir: {}
        - name: temporary
          emptyDir: {}
        {{- if and (eq .role "worker") $values.backup.existingClaim }}
        - name: backups
          persistentVolumeClaim:
            claimName: {{ $values.backup.existingClaim }}
        {{- end }}
{{- end }}

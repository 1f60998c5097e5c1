{{- define "micwatch.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "micwatch.selector" -}}
app.kubernetes.io/name: micwatch
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "micwatch.labels" -}}
{{ include "micwatch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "micwatch.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* The configuration file, with the names of the ingress. */ -}}
{{- define "micwatch.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $server := $config.server | default dict }}
{{- with .Values.ingress }}
{{- if .enabled }}
{{- $server = set $server "allowed_hosts" (concat (list .host) ($server.allowed_hosts | default list) | uniq) }}
{{- if and .tlsSecret (not $server.public_url) }}
{{- $server = set $server "public_url" (printf "https://%s" .host) }}
{{- end }}
{{- end }}
{{- end }}
{{- set $config "server" $server | toYaml }}
{{- end }}

{{- define "micwatch.validate" -}}
{{- if not .Values.image.repository }}
{{- fail "Set image.repository to the image that the release page names." }}
{{- end }}
{{- if and (not .Values.database.existingSecret) (or (gt (int .Values.replicas) 1) (gt (int .Values.pollers) 0)) }}
{{- fail "Several processes need PostgreSQL. Set database.existingSecret, or replicas to 1 and pollers to 0." }}
{{- end }}
{{- if .Values.ingress.enabled }}
{{- if not .Values.ingress.host }}
{{- fail "Set ingress.host to the name that users enter." }}
{{- end }}
{{- if not (dig "server" "trusted_proxies" list .Values.config) }}
{{- fail "Set config.server.trusted_proxies to the network of the ingress controller's pods." }}
{{- end }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not .Values.serviceMonitor.tokenSecret.name) }}
{{- fail "Set serviceMonitor.tokenSecret.name to a secret with a token of the role viewer." }}
{{- end }}
{{- end }}

{{- /* The pod of a process: role, args and probes of the container in a list with the context. */ -}}
{{- define "micwatch.pod" -}}
{{- $ := index . 0 }}
{{- $role := index . 1 }}
metadata:
  labels:
    {{- include "micwatch.selector" $ | nindent 4 }}
    app.kubernetes.io/component: {{ $role }}
  annotations:
    # Restarts the pods when the configuration changes.
    checksum/config: {{ include "micwatch.config" $ | sha256sum }}
spec:
  serviceAccountName: {{ include "micwatch.name" $ }}
  automountServiceAccountToken: false
  # Leaves out the variables of services, such as MICWATCH_PORT, which have no meaning here.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add 15 (dig "server" "drain_seconds" 0 $.Values.config) }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  {{- with $.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: micwatch
      image: {{ include "micwatch.image" $ | quote }}
      imagePullPolicy: {{ $.Values.image.pullPolicy }}
      args: {{ index . 2 | toJson }}
      ports: [{ name: http, containerPort: 8080 }]
      env:
        # Commands in the container read it too.
        - { name: MICWATCH_CONFIG, value: /etc/micwatch/micwatch.yaml }
        {{- with $.Values.database.existingSecret }}
        - { name: MICWATCH_DATABASE_URL, valueFrom: { secretKeyRef: { name: {{ . }}, key: database_url } } }
        - { name: MICWATCH_SECRET_KEY, valueFrom: { secretKeyRef: { name: {{ . }}, key: secret_key } } }
        - { name: MICWATCH_REDIS_URL, valueFrom: { secretKeyRef: { name: {{ . }}, key: redis_url, optional: true } } }
        {{- end }}
      {{- with $.Values.environmentSecret }}
      envFrom: [{ secretRef: { name: {{ . }} } }]
      {{- end }}
      # A large database of an older version takes minutes to update.
      startupProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 5, failureThreshold: 120 }
      livenessProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 30, timeoutSeconds: 10 }
      readinessProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 2, timeoutSeconds: 2 }
      resources: {{- toYaml $.Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: config, mountPath: /etc/micwatch, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - { name: config, configMap: { name: {{ include "micwatch.name" $ }} } }
    {{- if $.Values.database.existingSecret }}
    - { name: data, emptyDir: {} }
    {{- else }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ $.Values.persistence.existingClaim | default (include "micwatch.name" $) }}
    {{- end }}
    - { name: tmp, emptyDir: {} }
  {{- with $.Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $.Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $.Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

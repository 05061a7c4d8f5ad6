{{- define "xdskit.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "xdskit.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "xdskit.labels" -}}
{{ include "xdskit.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "xdskit.adminScheme" -}}
{{- if .Values.admin.tls.secretName }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- define "xdskit.kind" -}}
{{- if .Values.state.size }}StatefulSet{{ else }}Deployment{{ end }}
{{- end }}

{{- /* Without a directory of their own, replicas follow the store only. */ -}}
{{- define "xdskit.hasConfig" -}}
{{- if or .Values.config .Values.existingConfigMap (not .Values.store.url) }}true{{ end }}
{{- end }}

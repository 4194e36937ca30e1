{{- define "workcell.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "workcell.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "workcell.labels" -}}
{{ include "workcell.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "workcell.account" -}}
{{- .Values.serviceAccount.name | default (ternary (include "workcell.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* The name of a job has room for 63 characters. */ -}}
{{- define "workcell.removal" -}}
{{ include "workcell.name" . | trunc 50 | trimSuffix "-" }}-remove-cells
{{- end }}

{{- define "workcell.removalAccount" -}}
{{- if .Values.serviceAccount.create }}{{ include "workcell.removal" . }}{{ else }}{{ include "workcell.account" . }}{{ end }}
{{- end }}

{{- define "workcell.removalHook" -}}
helm.sh/hook: pre-delete
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{- define "workcell.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Every cell carries the name of the release, so that its uninstallation finds them. */ -}}
{{- define "workcell.config" -}}
{{- $templates := dict }}
{{- range $name, $template := .Values.templates }}
{{- $options := $template.options | default dict }}
{{- if eq ($template.backend | default "kubernetes") "kubernetes" }}
{{- $labels := merge (dict "workcell.release" $.Release.Name) ($options.labels | default dict) }}
{{- $options = merge (dict "labels" $labels) $options }}
{{- end }}
{{- $_ := set $templates $name (merge (dict "options" $options) $template) }}
{{- end }}
{{- $own := dict "backend" "kubernetes" "service" (dict "templates" $templates) }}
{{- toToml (mergeOverwrite $own (deepCopy .Values.config)) }}
{{- end }}

{{- define "workcell.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "workcell.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* What each service is: its command, whether it answers over HTTP, and its image. */}}
{{- define "vicw.catalogue" -}}
ingest: {command: [python, -m, vicw_ingest], http: true, image: platform}
retrieval: {command: [python, -m, vicw_retrieval], http: true, image: platform}
embedding: {command: [python, -m, vicw_embedding], http: true, image: embedding}
ingest-worker: {command: [celery, -A, vicw_ingest.worker, worker, -Q, ingest, --without-gossip, --without-mingle], image: platform}
sleep-worker: {command: [celery, -A, vicw_sleep.worker, worker, -Q, sleep, --without-gossip, --without-mingle], image: platform}
sleep-beat: {command: [python, -m, vicw_sleep.beat], image: platform}
{{- end -}}

{{- define "vicw.labels" -}}
app.kubernetes.io/name: vicw
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "vicw.name" -}}
{{ printf "%s-%s" .root.Release.Name .component | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "vicw.image" -}}
{{- $image := .root.Values.image -}}
{{- with $image.registry }}{{ . }}/{{ end }}{{ get $image .kind }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}

{{- define "vicw.secret" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef: {name: {{ .secret }}, key: {{ .key }}, optional: true}
{{- end -}}

{{- define "vicw.hardened" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
runAsUser: 10001
capabilities: {drop: [ALL]}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "vicw.model" -}}
- {name: VICW_EMBEDDING_MODEL, value: {{ .name | quote }}}
{{- with .repository }}
- {name: VICW_EMBEDDING_REPOSITORY, value: {{ . | quote }}}
{{- end }}
- {name: HF_HOME, value: /tmp}
{{- end -}}

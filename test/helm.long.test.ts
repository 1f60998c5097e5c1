/** The Helm chart, as Helm renders it. */

import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { renderChart } from '../scripts/lint/chart.ts'
import { parseResources } from '../scripts/lint/kubernetes.ts'
import { readConfig } from '../src/config.ts'
import { createTestFolder } from './support/store/databases.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const image = { repository: 'registry.example/micwatch' }
const digest = `sha256:${'a'.repeat(64)}`
const server = { trusted_proxies: ['10.0.0.0/8'] }

/** Returns the rendered resources by `Kind name`. */
function render(values: object) {
  const resources = parseResources(renderChart(values))
  // biome-ignore lint/suspicious/noExplicitAny: resources of several kinds
  return Object.fromEntries(resources.map((each) => [`${each.kind} ${each.metadata.name}`, each as any]))
}

/** Returns the configuration that the service reads. */
async function readRendered(text: string) {
  const folder = await createTestFolder()
  onTestFinished(folder.drop)
  const file = join(folder.path, 'micwatch.yaml')
  await writeFile(file, text)
  return readConfig({ config: file }, {})
}

// Conformance: C-26.28.
it('without a database, one process keeps its data with SQLite in a volume that stays', async () => {
  const resources = render({ image })
  expect(Object.keys(resources).sort()).toEqual(
    ['ServiceAccount', 'ConfigMap', 'PersistentVolumeClaim', 'Service', 'Deployment']
      .map((kind) => `${kind} venue`)
      .sort(),
  )
  expect(resources['PersistentVolumeClaim venue'].metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
  const { replicas, strategy, template, selector } = resources['Deployment venue'].spec
  expect([replicas, strategy]).toEqual([1, { type: 'Recreate' }])
  expect(template.metadata.labels).toEqual(selector.matchLabels)
  expect(resources['Service venue'].spec.selector).toEqual(selector.matchLabels)
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  expect(template.spec).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        image: `${image.repository}:${version}`,
        args: ['serve'],
        securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        livenessProbe: { httpGet: { path: '/healthz' } },
      },
    ],
    volumes: expect.arrayContaining([{ name: 'data', persistentVolumeClaim: { claimName: 'venue' } }]),
  })
  const chart = parse(await readFile(join(root, 'deploy/helm/micwatch/Chart.yaml'), 'utf8'))
  expect([chart.version, chart.appVersion]).toEqual([version, version])
})

// Conformance: C-26.28.
it('with PostgreSQL, several processes serve and poll behind an ingress, with a configuration that Micwatch accepts', async () => {
  const resources = render({
    image: { ...image, digest },
    replicas: 3,
    pollers: 2,
    database: { existingSecret: 'postgres' },
    config: { server: { ...server, allowed_hosts: ['wall.example'] } },
    ingress: { enabled: true, host: 'mics.example', tlsSecret: 'tls' },
    serviceMonitor: { enabled: true, tokenSecret: { name: 'metrics' } },
  })
  const [serving, polling] = ['venue', 'venue-poll'].map((name) => resources[`Deployment ${name}`].spec)
  expect([serving.replicas, polling.replicas]).toEqual([3, 2])
  for (const { template, selector } of [serving, polling]) {
    expect(template.metadata.labels).toEqual(selector.matchLabels)
    const [{ args, env, image: name, volumeMounts }] = template.spec.containers
    expect(name).toBe(`${image.repository}@${digest}`)
    expect(env.map((variable: { name: string }) => variable.name)).toEqual(
      expect.arrayContaining(['MICWATCH_DATABASE_URL', 'MICWATCH_SECRET_KEY', 'MICWATCH_REDIS_URL']),
    )
    const volumes = template.spec.volumes.map((volume: { name: string }) => volume.name)
    expect(volumeMounts.map((mount: { name: string }) => mount.name)).toEqual(volumes)
    const [command, ...flags] = args
    const help = [join(root, 'dist/main.js'), command, '--help']
    const { stdout } = await promisify(execFile)(process.execPath, help)
    for (const flag of flags.filter((word: string) => word.startsWith('--'))) expect(stdout).toContain(flag)
  }
  expect(serving.selector.matchLabels).not.toEqual(polling.selector.matchLabels)
  expect(serving.template.spec.containers[0].args).toEqual(['serve', '--no-poll'])
  expect(resources).not.toHaveProperty(['PersistentVolumeClaim venue'])
  expect(resources['Ingress venue'].spec.tls).toEqual([{ hosts: ['mics.example'], secretName: 'tls' }])
  expect(resources['ServiceMonitor venue'].spec.endpoints[0].authorization.credentials).toEqual({
    name: 'metrics',
    key: 'token',
  })
  expect((await readRendered(resources['ConfigMap venue'].data['micwatch.yaml'])).server).toMatchObject({
    allowed_hosts: ['mics.example', 'wall.example'],
    public_url: 'https://mics.example',
    trusted_proxies: server.trusted_proxies,
    drain_seconds: 5,
  })
})

// Conformance: C-26.28.
it.each([
  ['no image', {}, 'Set image.repository to the image that the release page names.'],
  ['several processes with SQLite', { image, replicas: 2 }, 'Several processes need PostgreSQL. Set database.existing'],
  ['pollers with SQLite', { image, pollers: 1 }, 'Several processes need PostgreSQL.'],
  ['an ingress without a name', { image, config: { server }, ingress: { enabled: true } }, 'Set ingress.host'],
  [
    'an ingress without the network of its controller',
    { image, ingress: { enabled: true, host: 'a.example' } },
    'Set config.server.trusted_proxies',
  ],
  ['a monitor without a token', { image, serviceMonitor: { enabled: true } }, 'Set serviceMonitor.tokenSecret.name'],
  ['an unknown value', { image, replica: 2 }, "additional properties 'replica' not allowed"],
])('%s is refused with a sentence', (_, values, sentence) => {
  expect(() => renderChart(values)).toThrow(sentence)
})

import type { HealthBody } from '../../src/contract/health.ts'
import type { StoreHealth } from '../../src/domain/equipment/health.ts'
import { type PageName, pathOf } from '../../src/domain/pages.ts'
import type { Problem } from '../app/api.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { Address } from '../app/operations.ts'
import { useResource } from '../app/resource.ts'
import type { Topic } from '../app/topics.ts'
import { displayName } from '../parts/equipment/manufacturer-names.tsx'
import { listErrors, type ShownStatus, statusText, useShownStatuses } from '../parts/equipment/source-status.ts'
import { type FailingNotifier, useFailingNotifiers } from '../parts/notifiers.ts'

const queueTopics = ['queue'] as const
const movementTopics = ['receiver', 'receiver_added', 'slots'] as const
const sourceTopics = ['source', 'settings'] as const
const connectionTopics = ['status_update', 'settings'] as const

type TaskPage = Extract<PageName, 'queue' | 'movements' | 'connections' | 'manufacturers' | 'notifications' | 'about'>

export interface OpenTask {
  readonly key: string
  readonly text: string
  readonly description?: string | null
  readonly path: ReturnType<typeof pathOf<TaskPage>>
  readonly search?: Readonly<Record<string, string>>
}

interface OpenTasks {
  /** Null until everything is loaded. */
  readonly items: readonly OpenTask[] | null
  readonly store: StoreHealth | null
  readonly problem: Problem | null
  reload(): Promise<void>
}

export function useOpenTasks(): OpenTasks {
  const queue = useCount('/api/discovery/pending/?page_size=1', queueTopics)
  const movements = useCount('/api/movements/unacknowledged/?page_size=1', movementTopics)
  const failing = useCount('/api/admin/realtime-connections/?status=error&page_size=1', connectionTopics)
  const lost = useCount('/api/admin/realtime-connections/?status=disconnected&page_size=1', connectionTopics)
  const health = useResource('/api/health/', 'object', sourceTopics)
  const statuses = useShownStatuses(health.body?.manufacturers ?? [])
  const notifications = useFailingNotifiers()
  const resources = [queue, movements, failing, lost, health, notifications]
  const isKnown = resources.every(({ body }) => body !== null)
  return {
    items: isKnown
      ? [
          ...ofCount('queue', queue.body?.count, 'shell.overview.queue', 'queue'),
          ...ofCount('movements', movements.body?.count, 'shell.overview.movements', 'movements'),
          ...ofManufacturers(health.body, statuses),
          ...ofCount('error', failing.body?.count, 'shell.overview.connections.error', 'connections', {
            status: 'error',
          }),
          ...ofCount('disconnected', lost.body?.count, 'shell.overview.connections.disconnected', 'connections', {
            status: 'disconnected',
          }),
          ...ofNotifications(notifications.body ?? []),
          ...ofUpdate(health.body?.update ?? null),
        ]
      : null,
    store: health.body?.store ?? null,
    problem: resources.find(({ problem }) => problem !== null)?.problem ?? null,
    async reload() {
      await Promise.all(resources.map(({ reload }) => reload()))
    },
  }
}

function useCount<const A extends Address<'GET'>>(address: A, topics: readonly Topic[]) {
  return useResource(address, 'page', topics)
}

type CountKey = `shell.overview.${'queue' | 'movements' | 'connections.error' | 'connections.disconnected'}`

function ofCount(
  key: string,
  count: number | undefined,
  text: CountKey,
  page: TaskPage,
  search: Readonly<Record<string, string>> = {},
): readonly OpenTask[] {
  return count === undefined || count === 0 ? [] : [{ key, text: t(text, { count }), path: pathOf(page), search }]
}

const settledStatuses: readonly ShownStatus[] = ['healthy', 'disabled', 'reported']

function ofManufacturers(health: HealthBody | null, statuses: ReadonlyMap<string, ShownStatus>): readonly OpenTask[] {
  if (health === null) return []
  const path = pathOf('manufacturers')
  if (health.manufacturers.length === 0) return [{ key: 'none', text: t('shell.overview.noManufacturer'), path }]
  return health.manufacturers
    .map((manufacturer) => ({ manufacturer, status: statuses.get(manufacturer.code) ?? 'unknown' }))
    .filter(({ status }) => !settledStatuses.includes(status))
    .map(({ manufacturer, status }) => ({
      key: `manufacturer ${manufacturer.code}`,
      text: t('shell.overview.manufacturer', {
        name: displayName(manufacturer),
        status: statusText(status),
      }),
      description: listErrors(manufacturer).join('; ') || null,
      path,
      search: { manufacturer: manufacturer.code },
    }))
}

function ofNotifications(failing: readonly FailingNotifier[]): readonly OpenTask[] {
  return failing.map(({ notifier: { id, name, enabled }, lastError }) => ({
    key: `notifications ${id}`,
    text: t(enabled ? 'shell.overview.notifications.failing' : 'shell.overview.notifications.disabled', {
      name: plainText(name),
    }),
    description: lastError,
    path: pathOf('notifications'),
    search: { tab: 'deliveries', channel_id: String(id) },
  }))
}

function ofUpdate(update: HealthBody['update']): readonly OpenTask[] {
  if (update === null) return []
  return [{ key: 'update', text: t('shell.overview.update', { version: update.version }), path: pathOf('about') }]
}

/** What waits for a person, of all that the administration looks after. */

import type { StoreHealth } from '../../src/model/health.ts'
import { type PageName, pathOf } from '../../src/model/pages.ts'
import { type Health, isObject, isPage, type Problem } from '../api.ts'
import { t } from '../i18n.ts'
import { useReading } from '../reading.ts'

/** Five lists at once: a page left open must not use up what a client may ask. */
const everyMs = 10_000

export interface Waiting {
  readonly key: string
  readonly text: string
  /** What is known of it besides. */
  readonly says?: string | null
  /** Below the mount; with the filter that shows it. */
  readonly path: string
}

interface AllWaiting {
  /** Null until something is known. */
  readonly items: readonly Waiting[] | null
  readonly store: StoreHealth | null
  readonly problem: Problem | null
  reload(): Promise<void>
}

export function useWaiting(): AllWaiting {
  const queue = useCount('/api/discovery/pending/?')
  const movements = useCount('/api/movements/unacknowledged/?')
  const failing = useCount('/api/admin/realtime-connections/?status=error&')
  const lost = useCount('/api/admin/realtime-connections/?status=disconnected&')
  const health = useReading('/api/health/', isObject<Health & { readonly store?: StoreHealth }>, everyMs)
  const readings = [queue, movements, failing, lost, health]
  const isKnown = readings.every(({ body }) => body !== null)
  return {
    items: isKnown
      ? [
          ...ofCount('queue', queue.body?.count, 'shell.overview.queue', 'queue'),
          ...ofCount('movements', movements.body?.count, 'shell.overview.movements', 'movements'),
          ...ofManufacturers(health.body),
          ...ofCount('error', failing.body?.count, 'shell.overview.connections.error', 'connections', '?status=error'),
          ...ofCount(
            'disconnected',
            lost.body?.count,
            'shell.overview.connections.disconnected',
            'connections',
            '?status=disconnected',
          ),
        ]
      : null,
    store: health.body?.store ?? null,
    problem: readings.find(({ problem }) => problem !== null)?.problem ?? null,
    async reload() {
      await Promise.all(readings.map(({ reload }) => reload()))
    },
  }
}

function useCount(path: string) {
  return useReading(`${path}page_size=1`, isPage<unknown>, everyMs)
}

type CountKey = `shell.overview.${'queue' | 'movements' | 'connections.error' | 'connections.disconnected'}`

function ofCount(
  key: string,
  count: number | undefined,
  text: CountKey,
  page: PageName,
  search = '',
): readonly Waiting[] {
  return count === undefined || count === 0 ? [] : [{ key, text: t(text, { count }), path: pathOf(page) + search }]
}

function ofManufacturers(health: Health | null): readonly Waiting[] {
  if (health === null) return []
  const path = pathOf('manufacturers')
  if (health.manufacturers.length === 0) return [{ key: 'none', text: t('shell.overview.noManufacturer'), path }]
  return health.manufacturers
    .filter(({ status }) => status !== 'healthy' && status !== 'disabled')
    .map(({ code, status, error }) => ({
      key: `manufacturer ${code}`,
      text: t('shell.overview.manufacturer', { code: code, status: t(`health.statuses.${status}`) }),
      says: error,
      path: `${path}?manufacturer=${code}`,
    }))
}

import { useQueries, useQuery } from '@tanstack/react-query'
import type { NotificationChannelBody, NotificationDeliveryBody } from '../../src/contract/notifications.ts'
import type { Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { resourceQuery } from '../app/resource.ts'
import { useIsListed } from '../app/sections.ts'
import { useSession } from '../app/session.ts'

export const notifiersPath = '/api/admin/notification-channels/'
export const rulesPath = '/api/admin/notification-rules/'
export const deliveriesPath = '/api/admin/notification-deliveries/'

export const notificationTopics = ['notifications'] as const

interface LastDeliveries {
  /** By notifier id. Null without a delivery, missing while unknown. */
  readonly byNotifier: ReadonlyMap<number, NotificationDeliveryBody | null>
  readonly problem: Problem | null
  reload(): Promise<void>
}

export function useLastDeliveries(notifiers: readonly NotificationChannelBody[]): LastDeliveries {
  const { api } = useServices()
  const queries = useQueries({
    queries: notifiers.map(({ id }) =>
      resourceQuery(api, {
        address: `${deliveriesPath}?channel_id=${id}&page_size=1`,
        shape: 'page',
        topics: notificationTopics,
      }),
    ),
  })
  const byNotifier = new Map(
    notifiers.flatMap(({ id }, index) => {
      const page = queries[index]?.data
      return page === undefined ? [] : [[id, page.results[0] ?? null] as const]
    }),
  )
  return {
    byNotifier,
    problem: queries.find(({ error }) => error !== null)?.error?.problem ?? null,
    async reload() {
      await Promise.all(queries.map(({ refetch }) => refetch()))
    },
  }
}

export interface FailingNotifier {
  readonly notifier: NotificationChannelBody
  readonly lastError: string | null
}

interface FailingNotifiers {
  /** Null until they are loaded, empty if the user may not see them. */
  readonly body: readonly FailingNotifier[] | null
  readonly problem: Problem | null
  reload(): Promise<void>
}

const noNotifiers: readonly NotificationChannelBody[] = []

export function useFailingNotifiers(): FailingNotifiers {
  const { api } = useServices()
  const isSignedIn = useSession() !== null
  const mayRead = useIsListed()('notifications')
  const query = resourceQuery(api, { address: notifiersPath, shape: 'list', topics: notificationTopics })
  const { data, error, refetch } = useQuery({ ...query, enabled: mayRead })
  const notifiers = data ?? noNotifiers
  const last = useLastDeliveries(notifiers)
  const isKnown = mayRead ? data !== undefined && last.byNotifier.size === notifiers.length : isSignedIn
  const failing = notifiers.flatMap((notifier) => {
    const delivery = last.byNotifier.get(notifier.id)
    const hasFailed = delivery?.status === 'failed' || delivery?.status === 'expired'
    return hasFailed ? [{ notifier, lastError: delivery.last_error }] : []
  })
  return {
    body: isKnown ? failing : null,
    problem: error?.problem ?? last.problem,
    async reload() {
      await Promise.all([refetch(), last.reload()])
    },
  }
}

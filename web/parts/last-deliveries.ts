import { useQueries, useQuery } from '@tanstack/react-query'
import type { NotificationChannelBody, NotificationDeliveryBody } from '../../src/contract/notifications.ts'
import type { Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { resourceQuery } from '../app/resource.ts'
import { useIsListed } from '../app/sections.ts'
import { useSession } from '../app/session.ts'
import { channelsPath, deliveriesPath, notificationTopics } from '../notifications/addresses.ts'

interface LastDeliveries {
  /** By channel id. Null without a delivery, missing while unknown. */
  readonly byChannel: ReadonlyMap<number, NotificationDeliveryBody | null>
  readonly problem: Problem | null
  reload(): Promise<void>
}

export function useLastDeliveries(channels: readonly NotificationChannelBody[]): LastDeliveries {
  const { api } = useServices()
  const queries = useQueries({
    queries: channels.map(({ id }) =>
      resourceQuery(api, {
        address: `${deliveriesPath}?channel_id=${id}&page_size=1`,
        shape: 'page',
        topics: notificationTopics,
      }),
    ),
  })
  const byChannel = new Map(
    channels.flatMap(({ id }, index) => {
      const page = queries[index]?.data
      return page === undefined ? [] : [[id, page.results[0] ?? null] as const]
    }),
  )
  return {
    byChannel,
    problem: queries.find(({ error }) => error !== null)?.error?.problem ?? null,
    async reload() {
      await Promise.all(queries.map(({ refetch }) => refetch()))
    },
  }
}

export interface FailingChannel {
  readonly channel: NotificationChannelBody
  readonly lastError: string | null
}

interface FailingChannels {
  /** Null until they are loaded, empty if the user may not see them. */
  readonly body: readonly FailingChannel[] | null
  readonly problem: Problem | null
  reload(): Promise<void>
}

const noChannels: readonly NotificationChannelBody[] = []

export function useFailingChannels(): FailingChannels {
  const { api } = useServices()
  const isSignedIn = useSession() !== null
  const mayRead = useIsListed()('notifications')
  const query = resourceQuery(api, { address: channelsPath, shape: 'list', topics: notificationTopics })
  const { data, error, refetch } = useQuery({ ...query, enabled: mayRead })
  const channels = data ?? noChannels
  const last = useLastDeliveries(channels)
  const isKnown = mayRead ? data !== undefined && last.byChannel.size === channels.length : isSignedIn
  const failing = channels.flatMap((channel) => {
    const delivery = last.byChannel.get(channel.id)
    const hasFailed = delivery?.status === 'failed' || delivery?.status === 'expired'
    return hasFailed ? [{ channel, lastError: delivery.last_error }] : []
  })
  return {
    body: isKnown ? failing : null,
    problem: error?.problem ?? last.problem,
    async reload() {
      await Promise.all([refetch(), last.reload()])
    },
  }
}

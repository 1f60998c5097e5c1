/** Administration routes for notification channels, rules and deliveries. Operators see them without addresses. */

import type { FastifyRequest } from 'fastify'
import {
  addNotificationChannel,
  changeNotificationChannel,
  removeNotificationChannel,
  rotateNotificationSecret,
  testNotificationChannel,
} from '../../actions/alerts/edit-notification-channels.ts'
import {
  addNotificationRule,
  changeNotificationRule,
  removeNotificationRule,
} from '../../actions/alerts/edit-notification-rules.ts'
import { type NotificationDeliveryBody, notificationOperations } from '../../contract/notifications.ts'
import { RequestError } from '../../domain/errors.ts'
import {
  fullConfig,
  type NotificationChannel,
  toChannelBody,
  withoutAddresses,
} from '../../domain/notifications/channel.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { countDeliveries, listDeliveries, oldestListed } from '../../storage/notification-deliveries.ts'
import {
  findNotificationChannel,
  listNotificationChannels,
  listNotificationRules,
} from '../../storage/notifications.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginate, readPage, rowsOf, toPageOf } from '../server/response.ts'

const inspect = { config: { needs: 'inspect_notifications' } } as const
const administer = { config: { needs: 'administer' } } as const

export function notificationRoutes(app: ContractServer, service: Service): void {
  channelRoutes(app, service)
  channelActionRoutes(app, service)
  ruleRoutes(app, service)
  deliveryRoutes(app, service)
}

/** Only administrators may read addresses. */
function showsAddresses({ credential }: FastifyRequest): boolean {
  return credential?.role === 'admin'
}

function channelRoutes(app: ContractServer, service: Service): void {
  const { db, secrets } = service
  const toBody = (channel: NotificationChannel) => toChannelBody(channel, { showsAddresses: true })

  app.route({
    ...notificationOperations.listNotificationChannels,
    ...inspect,
    handler: async (request) => {
      const options = { showsAddresses: showsAddresses(request) }
      const channels = await listNotificationChannels(db.read, secrets)
      return paginate(
        request,
        channels.map((channel) => toChannelBody(channel, options)),
      )
    },
  })

  app.route({
    ...notificationOperations.getNotificationChannel,
    ...inspect,
    handler: async (request) => {
      const { id } = request.params
      const channel = await findNotificationChannel(db.read, secrets, id)
      if (channel === undefined) throw new RequestError('not_found', { subject: `notification channel ${id}` })
      return toChannelBody(channel, { showsAddresses: showsAddresses(request) })
    },
  })

  app.route({
    ...notificationOperations.createNotificationChannel,
    ...administer,
    handler: async ({ actor, body }, reply) => {
      const channel = await addNotificationChannel(service, actor, body)
      reply.code(201)
      const { signing } = channel
      return {
        ...toBody(channel),
        ...(signing !== null && { secret: signing.secret }),
      }
    },
  })

  app.route({
    ...notificationOperations.changeNotificationChannel,
    ...administer,
    handler: async (request) => {
      const { actor, params, body } = request
      return toBody(await changeNotificationChannel(service, actor, params.id, body, ifMatch(request, toBody)))
    },
  })

  app.route({
    ...notificationOperations.removeNotificationChannel,
    ...administer,
    handler: async (request, reply) => {
      await removeNotificationChannel(service, request.actor, request.params.id, ifMatch(request, toBody))
      return reply.code(204).send(null)
    },
  })
}

function channelActionRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...notificationOperations.testNotificationChannel,
    ...administer,
    handler: ({ actor, params }) => testNotificationChannel(service, actor, params.id),
  })

  app.route({
    ...notificationOperations.rotateNotificationSecret,
    ...administer,
    handler: async ({ actor, params }) => {
      const { secret, previous_until } = await rotateNotificationSecret(service, actor, params.id)
      return { secret, previous_until: toTimestamp(previous_until) }
    },
  })
}

function ruleRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...notificationOperations.listNotificationRules,
    ...inspect,
    handler: async (request) => paginate(request, await listNotificationRules(service.db.read)),
  })

  app.route({
    ...notificationOperations.getNotificationRule,
    ...inspect,
    handler: async ({ params: { id } }) => {
      const rule = (await listNotificationRules(service.db.read)).find((candidate) => candidate.id === id)
      if (rule === undefined) throw new RequestError('not_found', { subject: `notification rule ${id}` })
      return rule
    },
  })

  app.route({
    ...notificationOperations.createNotificationRule,
    ...administer,
    handler: async ({ actor, body }, reply) => {
      const rule = await addNotificationRule(service, actor, body)
      reply.code(201)
      return rule
    },
  })

  app.route({
    ...notificationOperations.changeNotificationRule,
    ...administer,
    handler: (request) => {
      const { actor, params, body } = request
      return changeNotificationRule(service, actor, params.id, body, ifMatch(request))
    },
  })

  app.route({
    ...notificationOperations.removeNotificationRule,
    ...administer,
    handler: async (request, reply) => {
      await removeNotificationRule(service, request.actor, request.params.id, ifMatch(request))
      return reply.code(204).send(null)
    },
  })
}

function deliveryRoutes(app: ContractServer, { db, secrets }: Service): void {
  app.route({
    ...notificationOperations.listNotificationDeliveries,
    ...inspect,
    handler: async (request) => {
      const { query, url } = request
      const page = readPage(query)
      const filter = { ...query, since: oldestListed(now()) }
      const bodies = (await listDeliveries(db.read, filter, rowsOf(page))).map(toDeliveryBody)
      const shown = showsAddresses(request) ? bodies : await withoutAddressesIn(bodies)
      return page === null ? shown : toPageOf(shown, await countDeliveries(db.read, filter), page, url)
    },
  })

  async function withoutAddressesIn<Delivery extends { readonly last_error: string | null }>(
    bodies: readonly Delivery[],
  ): Promise<Delivery[]> {
    const configs = (await listNotificationChannels(db.read, secrets)).map(fullConfig)
    return bodies.map((body) =>
      body.last_error === null ? body : { ...body, last_error: withoutAddresses(body.last_error, configs) },
    )
  }
}

/** Times are epoch milliseconds. */
type Delivery = Omit<NotificationDeliveryBody, `${string}_at`> & {
  readonly created_at: number
  readonly last_attempt_at: number | null
  readonly next_attempt_at: number | null
  readonly sent_at: number | null
}

function toDeliveryBody(delivery: Delivery): NotificationDeliveryBody {
  const { id, notification_channel_id, rule_id, type, alert_ids, status, attempts, last_error } = delivery
  const toTime = (time: number | null) => (time === null ? null : toTimestamp(time))
  return {
    ...{ id, notification_channel_id, rule_id, type, alert_ids, status, attempts, last_error },
    created_at: toTimestamp(delivery.created_at),
    last_attempt_at: toTime(delivery.last_attempt_at),
    next_attempt_at: toTime(delivery.next_attempt_at),
    sent_at: toTime(delivery.sent_at),
  }
}

import Type from 'typebox'
import { alertKinds } from './alert-kinds.ts'
import { chosenKinds } from './alerts.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { notificationChannelTypes } from './notification-services.ts'
import {
  type Body,
  ById,
  body,
  boundedText,
  boundedWhole,
  choiceOf,
  distinctIds,
  flag,
  id,
  idOf,
  listOf,
  NoContent,
  name,
  named,
  nullable,
  oneOf,
  optional,
  orNull,
  Paging,
  pagedOf,
  paging,
  query,
  recordId,
  sameValue,
  text,
  textOrNull,
  time,
  timeOrNull,
  trueOrFalse,
  version,
  whole,
  wholeOrNull,
} from './schema.ts'
import { deliveryStatuses, notificationTypes, severities, weekdays } from './values.ts'

export const NotificationChannel = named('NotificationChannel', 'A service by which alerts are sent.', {
  id,
  name: text('Name.'),
  type: oneOf(notificationChannelTypes, 'Kind of the service.'),
  config: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Addresses and credentials, with `********` in place of secrets. Operators receive an empty object.',
  }),
  enabled: flag('Whether alerts are sent by it.'),
  without_names: flag(
    'True if its messages identify channels only by slot, without performers, labels, packs or channel names.',
  ),
  acknowledge_link: flag(
    'True if its messages have a link for each alert, with which anyone can acknowledge the alert without signing in. Requires `server.public_url`.',
  ),
  version,
})
export type NotificationChannelBody = Body<typeof NotificationChannel>

const AddedNotificationChannel = named('AddedNotificationChannel', 'A notification channel that was added.', {
  ...NotificationChannel.properties,
  secret: Type.Optional(text('Of a webhook: the secret that signs its messages. Only this response contains it.')),
})

const NotificationSecret = named('NotificationSecret', 'A new secret of a webhook.', {
  secret: text('The secret that signs messages. Only this response contains it.'),
  previous_until: time('Until when messages are also signed with the previous secret.'),
})

export const NotificationTest = named('NotificationTest', 'What a service responded to a test message.', {
  ok: flag('Whether the service accepted the message.'),
  status: wholeOrNull('Status of its response.'),
  response: textOrNull('The first 200 characters of its response.'),
  error: textOrNull('Why the message was not sent.'),
  duration_ms: whole('Duration in milliseconds.'),
})
export type NotificationTestBody = Body<typeof NotificationTest>

const channelIds = (description: string) => listOf(Type.Integer(), description)

const NotificationSchedule = Type.Object(
  {
    days: listOf(Type.Enum([...weekdays]), 'Days on which it begins.'),
    from: text('When it begins, HH:MM.'),
    to: text('When it ends, HH:MM, exclusive; up to `from`, on the next day.'),
    time_zone: text('IANA name of a time zone.'),
  },
  { description: 'Hours on days of the week.' },
)

export const NotificationRule = named('NotificationRule', 'Which alerts are sent, where and when.', {
  id,
  name: text('Name.'),
  notification_channel_ids: channelIds('Ids of the notification channels.'),
  kinds: listOf(Type.Enum([...alertKinds]), 'Kinds of alerts; empty: all.'),
  excluded_kinds: listOf(
    Type.Enum([...alertKinds]),
    'Kinds that a rule for all kinds excludes. For a rule that an earlier version stored, these are the kinds that this version added.',
  ),
  min_severity: oneOf(severities, 'Lowest severity.'),
  group_ids: listOf(Type.Integer(), 'Ids of groups of slots; empty: all alerts.'),
  manufacturers: listOf(Type.String(), 'Codes of manufacturers; empty: all alerts.'),
  sites: listOf(
    Type.String(),
    'Codes of sites, `local` for this installation, `*` for this installation and all sites; empty: this installation.',
  ),
  when: Type.Union([Type.Enum(['always', 'during_shows']), NotificationSchedule], { description: 'When it applies.' }),
  delay_seconds: whole('How long an alert must last before it is sent.'),
  repeat_minutes: whole('Minutes after which an alert is sent again; 0: never.'),
  send_cleared: flag('Whether the end of an alert is sent.'),
  escalate: orNull(
    Type.Object({
      after_seconds: whole('How long an alert may stay unacknowledged after its first message.'),
      notification_channel_ids: channelIds('Ids of the notification channels to which it is then sent.'),
    }),
    'Where unacknowledged alerts are sent; null: nowhere.',
  ),
  version,
})
export type NotificationRuleBody = Body<typeof NotificationRule>

export const NotificationDelivery = named('NotificationDelivery', 'A message to a notification channel.', {
  id,
  notification_channel_id: wholeOrNull('Id of the notification channel; null if it was deleted.'),
  rule_id: wholeOrNull('Id of the rule; null for a test, or if it was deleted.'),
  type: oneOf(notificationTypes, 'Why it was sent.'),
  alert_ids: listOf(Type.Integer(), 'Ids of the alerts.'),
  status: oneOf(deliveryStatuses, 'Whether it was sent.'),
  attempts: whole('Number of tries.'),
  last_error: textOrNull('Why the last attempt failed. Operators receive it without addresses.'),
  created_at: time('When it was queued.'),
  last_attempt_at: timeOrNull('When it was last tried.'),
  next_attempt_at: timeOrNull('Time of the next attempt.'),
  sent_at: timeOrNull('When the service accepted it.'),
})
export type NotificationDeliveryBody = Body<typeof NotificationDelivery>

export const notificationChannelType = choiceOf(notificationChannelTypes)

export const notificationChannelFields = {
  /** Each service validates its own configuration. */
  config: Type.Record(Type.String(), Type.Unknown(), {
    maxProperties: 100,
    description: 'an object of at most 100 fields',
  }),
  enabled: Type.Optional(trueOrFalse),
  without_names: Type.Optional(trueOrFalse),
  acknowledge_link: Type.Optional(trueOrFalse),
}

const clockTime = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'a time such as 19:30' })

const schedule = Type.Object(
  {
    days: Type.Array(choiceOf(weekdays), {
      minItems: 1,
      uniqueItems: true,
      description: `a list of distinct days: ${weekdays.join(', ')}`,
    }),
    from: clockTime,
    to: clockTime,
    time_zone: boundedText(1, 64),
  },
  { additionalProperties: false },
)

export const escalationSeconds = boundedWhole(1, 86_400)

/** Without the fields that refer to other records by id. */
export const notificationRuleFields = {
  kinds: chosenKinds,
  excluded_kinds: chosenKinds,
  min_severity: Type.Optional(choiceOf(severities)),
  manufacturers: Type.Optional(
    Type.Array(boundedText(1, 64), {
      maxItems: 100,
      uniqueItems: true,
      description: 'a list of at most 100 distinct codes of manufacturers',
    }),
  ),
  sites: Type.Optional(
    Type.Array(boundedText(1, 640), {
      maxItems: 1000,
      uniqueItems: true,
      description: 'a list of at most 1000 distinct codes of sites, local or *',
    }),
  ),
  when: Type.Optional(
    Type.Union([Type.Enum(['always', 'during_shows']), schedule], {
      description: 'always, during_shows, or an object with days, from, to (HH:MM) and time_zone',
    }),
  ),
  delay_seconds: Type.Optional(boundedWhole(0, 86_400)),
  repeat_minutes: Type.Optional(boundedWhole(0, 10_080)),
  send_cleared: Type.Optional(trueOrFalse),
}

const NewNotificationChannel = body({ name, type: notificationChannelType, ...notificationChannelFields })
const NotificationChannelChange = body(optional({ name, ...notificationChannelFields }))

const notificationChannelIds = Type.Array(recordId, {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'a list of 1 to 100 distinct ids of notification channels',
})

const notificationRule = {
  ...notificationRuleFields,
  group_ids: Type.Optional(distinctIds),
  escalate: Type.Optional(
    nullable(
      body({ after_seconds: escalationSeconds, notification_channel_ids: notificationChannelIds }),
      'an object with after_seconds and notification_channel_ids',
    ),
  ),
  name,
  notification_channel_ids: notificationChannelIds,
}

const NewNotificationRule = body(notificationRule)
const NotificationRuleChange = body(optional(notificationRule))

const DeliveryQuery = query({
  status: oneOf(deliveryStatuses, sameValue),
  channel_id: idOf('Id of a notification channel, to return only its deliveries.'),
  ...paging,
})

const channels = '/api/admin/notification-channels/'
const rules = '/api/admin/notification-rules/'

export const notificationOperations = operationsOf({
  listNotificationChannels: endpoint('GET', channels, {
    ...about('Notifications', 'Services to which alerts are sent, without secrets.'),
    querystring: Paging,
    response: { 200: pagedOf(NotificationChannel) },
  }),

  getNotificationChannel: endpoint('GET', `${channels}:id/`, {
    ...about('Notifications', 'One notification channel.'),
    params: ById,
    response: { 200: NotificationChannel },
  }),

  createNotificationChannel: endpoint('POST', channels, {
    ...about(
      'Notifications',
      'Adds a notification channel. The response for a webhook contains the secret that signs its messages, this once.',
    ),
    body: NewNotificationChannel,
    response: { 201: AddedNotificationChannel },
  }),

  changeNotificationChannel: endpoint('PATCH', `${channels}:id/`, {
    ...about(
      'Notifications',
      'Changes a notification channel; keys of `config` are merged into the stored configuration, and null removes one.',
    ),
    params: ById,
    body: NotificationChannelChange,
    response: { 200: NotificationChannel, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeNotificationChannel: endpoint('DELETE', `${channels}:id/`, {
    ...about(
      'Notifications',
      'Removes a notification channel, and removes it from all rules; messages that are waiting for it are not sent.',
    ),
    params: ById,
    response: { 204: NoContent, 412: ErrorResponse },
  }),

  testNotificationChannel: endpoint('POST', `${channels}:id/test`, {
    ...about('Notifications', 'Sends a test message immediately, once, even if the notification channel is disabled.'),
    params: ById,
    response: { 200: NotificationTest },
  }),

  rotateNotificationSecret: endpoint('POST', `${channels}:id/rotate`, {
    ...about('Notifications', 'Creates a new secret for a webhook. Both secrets sign its messages for 24 hours.'),
    params: ById,
    response: { 200: NotificationSecret, 409: ErrorResponse },
  }),

  listNotificationRules: endpoint('GET', rules, {
    ...about('Notifications', 'Rules that choose which alerts are sent, and when.'),
    querystring: Paging,
    response: { 200: pagedOf(NotificationRule) },
  }),

  getNotificationRule: endpoint('GET', `${rules}:id/`, {
    ...about('Notifications', 'One notification rule.'),
    params: ById,
    response: { 200: NotificationRule },
  }),

  createNotificationRule: endpoint('POST', rules, {
    ...about('Notifications', 'Adds a notification rule.'),
    body: NewNotificationRule,
    response: { 201: NotificationRule },
  }),

  changeNotificationRule: endpoint('PATCH', `${rules}:id/`, {
    ...about('Notifications', 'Changes the given fields of a notification rule.'),
    params: ById,
    body: NotificationRuleChange,
    response: { 200: NotificationRule, 412: ErrorResponse },
  }),

  removeNotificationRule: endpoint('DELETE', `${rules}:id/`, {
    ...about('Notifications', 'Removes a notification rule.'),
    params: ById,
    response: { 204: NoContent, 412: ErrorResponse },
  }),

  listNotificationDeliveries: endpoint('GET', '/api/admin/notification-deliveries/', {
    ...about('Notifications', 'Messages of the last 30 days, newest first; at most 1000 without paging.'),
    querystring: DeliveryQuery,
    response: { 200: pagedOf(NotificationDelivery) },
  }),
})

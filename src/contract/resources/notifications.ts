/** Notifications: the services by which alerts are sent, the rules that choose the alerts, and what was sent. */

import Type from 'typebox'
import { alertKinds } from '../alert-kinds.ts'
import {
  type Body,
  flag,
  listOf,
  named,
  oneOf,
  orNull,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
  wholeOrNull,
} from '../described.ts'
import { deliveryStatuses, notificationChannelTypes, notificationTypes, severities, weekdays } from '../values.ts'
import { id } from './common.ts'

export const NotificationChannel = named('NotificationChannel', 'A service by which alerts are sent.', {
  id,
  name: text('Name.'),
  type: oneOf(notificationChannelTypes, 'Kind of the service.'),
  config: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Addresses and credentials, with `********` in place of secrets. Operators receive an empty object.',
  }),
  enabled: flag('Whether alerts are sent by it.'),
})
export type NotificationChannelBody = Body<typeof NotificationChannel>

export const AddedNotificationChannel = named('AddedNotificationChannel', 'A notification channel that was added.', {
  ...NotificationChannel.properties,
  secret: Type.Optional(text('Of a webhook: the secret that signs its messages. Only this response contains it.')),
})

export const NotificationSecret = named('NotificationSecret', 'A new secret of a webhook.', {
  secret: text('The secret that signs messages. Only this response contains it.'),
  previous_until: time('Until when messages are also signed with the previous secret.'),
})

export const NotificationTest = named('NotificationTest', 'What a service responded to a test message.', {
  ok: flag('Whether the service accepted the message.'),
  status: wholeOrNull('Status of its response.'),
  response: textOrNull('The first 200 characters of its response.'),
  error: textOrNull('Why the message was not sent.'),
  duration_ms: whole('How long it took, in milliseconds.'),
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
  { description: 'Hours of days of the week.' },
)

export const NotificationRule = named('NotificationRule', 'Which alerts are sent, where and when.', {
  id,
  name: text('Name.'),
  notification_channel_ids: channelIds('Ids of the notification channels.'),
  kinds: listOf(Type.Enum([...alertKinds]), 'Kinds of alerts; empty: all.'),
  min_severity: oneOf(severities, 'Lowest severity.'),
  group_ids: listOf(Type.Integer(), 'Ids of groups of slots; empty: all alerts.'),
  manufacturers: listOf(Type.String(), 'Codes of manufacturers; empty: all alerts.'),
  sites: listOf(
    Type.String(),
    'Codes of sites, `local` for this installation, `*` for this installation and all sites; empty: this installation.',
  ),
  when: Type.Union([Type.Enum(['always', 'during_shows']), NotificationSchedule], { description: 'When it applies.' }),
  delay_seconds: whole('How long an alert must last before it is sent.'),
  repeat_minutes: whole('After how many minutes an alert is sent again; 0: never.'),
  send_cleared: flag('Whether the end of an alert is sent.'),
  escalate: orNull(
    Type.Object({
      after_seconds: whole('How long an alert may stay unacknowledged after its first message.'),
      notification_channel_ids: channelIds('Ids of the notification channels to which it is then sent.'),
    }),
    'Where alerts are sent that are not acknowledged; null: nowhere.',
  ),
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
  last_error: textOrNull('Why the last try failed. Operators receive it without addresses.'),
  created_at: time('When it was queued.'),
  last_attempt_at: timeOrNull('When it was last tried.'),
  next_attempt_at: timeOrNull('When it is tried next.'),
  sent_at: timeOrNull('When the service accepted it.'),
})
export type NotificationDeliveryBody = Body<typeof NotificationDelivery>

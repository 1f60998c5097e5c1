/** Notification channels, rules and deliveries. */

import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, DeliveryQuery, Paging } from '../queries.ts'
import {
  NewNotificationChannel,
  NewNotificationRule,
  NotificationChannelChange,
  NotificationRuleChange,
} from '../requests.ts'
import {
  AddedNotificationChannel,
  NotificationChannel,
  NotificationDelivery,
  NotificationRule,
  NotificationSecret,
  NotificationTest,
} from '../resources/notifications.ts'

const channels = '/api/admin/notification-channels/'
const rules = '/api/admin/notification-rules/'

export const listNotificationChannels = endpoint('GET', channels, {
  ...operation('Notifications', 'listNotificationChannels', 'Services to which alerts are sent, without secrets.'),
  querystring: Paging,
  response: { 200: pagedOf(NotificationChannel) },
})

export const getNotificationChannel = endpoint('GET', `${channels}:id/`, {
  ...operation('Notifications', 'getNotificationChannel', 'One notification channel.'),
  params: ById,
  response: { 200: NotificationChannel },
})

export const createNotificationChannel = endpoint('POST', channels, {
  ...operation(
    'Notifications',
    'createNotificationChannel',
    'Adds a notification channel. The response for a webhook contains the secret that signs its messages, this once.',
  ),
  body: NewNotificationChannel,
  response: { 201: AddedNotificationChannel },
})

export const changeNotificationChannel = endpoint('PATCH', `${channels}:id/`, {
  ...operation(
    'Notifications',
    'changeNotificationChannel',
    'Changes a notification channel; keys of `config` are merged into the stored configuration, and null removes one.',
  ),
  params: ById,
  body: NotificationChannelChange,
  response: { 200: NotificationChannel, 409: ErrorResponse },
})

export const removeNotificationChannel = endpoint('DELETE', `${channels}:id/`, {
  ...operation(
    'Notifications',
    'removeNotificationChannel',
    'Removes a notification channel, also from all rules; messages that are waiting for it are not sent.',
  ),
  params: ById,
  response: { 204: NoContent },
})

export const testNotificationChannel = endpoint('POST', `${channels}:id/test`, {
  ...operation(
    'Notifications',
    'testNotificationChannel',
    'Sends a test message immediately, once, even if the notification channel is disabled.',
  ),
  params: ById,
  response: { 200: NotificationTest },
})

export const rotateNotificationSecret = endpoint('POST', `${channels}:id/rotate`, {
  ...operation(
    'Notifications',
    'rotateNotificationSecret',
    'Creates a new secret for a webhook. Both secrets sign its messages for 24 hours.',
  ),
  params: ById,
  response: { 200: NotificationSecret, 409: ErrorResponse },
})

export const listNotificationRules = endpoint('GET', rules, {
  ...operation('Notifications', 'listNotificationRules', 'Rules that choose which alerts are sent, and when.'),
  querystring: Paging,
  response: { 200: pagedOf(NotificationRule) },
})

export const getNotificationRule = endpoint('GET', `${rules}:id/`, {
  ...operation('Notifications', 'getNotificationRule', 'One notification rule.'),
  params: ById,
  response: { 200: NotificationRule },
})

export const createNotificationRule = endpoint('POST', rules, {
  ...operation('Notifications', 'createNotificationRule', 'Adds a notification rule.'),
  body: NewNotificationRule,
  response: { 201: NotificationRule },
})

export const changeNotificationRule = endpoint('PATCH', `${rules}:id/`, {
  ...operation('Notifications', 'changeNotificationRule', 'Changes the given fields of a notification rule.'),
  params: ById,
  body: NotificationRuleChange,
  response: { 200: NotificationRule },
})

export const removeNotificationRule = endpoint('DELETE', `${rules}:id/`, {
  ...operation('Notifications', 'removeNotificationRule', 'Removes a notification rule.'),
  params: ById,
  response: { 204: NoContent },
})

export const listNotificationDeliveries = endpoint('GET', '/api/admin/notification-deliveries/', {
  ...operation(
    'Notifications',
    'listNotificationDeliveries',
    'Messages of the last 30 days, newest first; at most 1000 without paging.',
  ),
  querystring: DeliveryQuery,
  response: { 200: pagedOf(NotificationDelivery) },
})

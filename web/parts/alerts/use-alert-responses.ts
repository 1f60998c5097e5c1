/** Responses count for all users. The service announces the change, so the live state needs no update here. */

import { useCallback } from 'react'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import type { ApiResponse } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { useShowMessage } from '../dialogs/messages.tsx'
import { runForEach } from '../tables/run-for-each.ts'
import { alertLine } from './alert-text.ts'

export type Snooze = { readonly minutes: number } | { readonly until: 'cleared' | 'show_end' }

type Undo = 'unacknowledge' | 'unsnooze'
type ResponsePath = `/api/alerts/${number}/${Undo}` | `/api/channels/${number}/muted-on-purpose`

export interface AlertResponses {
  readonly isSending: boolean
  /** Resolves to false if nothing was acknowledged. */
  acknowledge(alerts: readonly AlertBody[], note?: string): Promise<boolean>
  /** Resolves to false if nothing was snoozed. */
  snooze(alerts: readonly AlertBody[], snooze: Snooze): Promise<boolean>
  takeBack(alert: AlertBody, undo: Undo): Promise<void>
  /** Marks a mute as on purpose. */
  markMuted(channelId: number, name: string): Promise<void>
}

export function useAlertResponses(): AlertResponses {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send, isSending } = useRequest()

  const respond = useCallback(
    async (
      alerts: readonly AlertBody[],
      done: 'acknowledge' | 'snooze',
      call: (id: number) => Promise<ApiResponse<unknown>>,
    ) => {
      const lines = new Map(alerts.map((alert) => [alert.id, alertLine(alert)]))
      const response = await send(() => runForEach([...lines.keys()], (id) => lines.get(id) ?? '', call))
      if (response === null) return false
      if (!response.ok) {
        showMessage({ text: response.problem.detail, tone: 'alarm' })
        return false
      }
      const { done: ids, failed } = response.body
      const [first, ...others] = ids.map((id) => lines.get(id) ?? '')
      const text =
        first !== undefined && others.length === 0
          ? t(`alerts.${done}.done`, { alert: first })
          : t(`alerts.${done}.doneSeveral`, { count: ids.length })
      const problems = failed.map(({ error }) => error)
      showMessage({ text: [text, ...problems].join(' '), tone: failed.length === 0 ? 'calm' : 'alarm' })
      return true
    },
    [send, showMessage],
  )

  const acknowledge = useCallback(
    (alerts: readonly AlertBody[], note = '') =>
      respond(alerts, 'acknowledge', (id) =>
        api.write('POST', `/api/alerts/${id}/acknowledge`, note === '' ? {} : { note }, 'object'),
      ),
    [api, respond],
  )
  const snooze = useCallback(
    (alerts: readonly AlertBody[], snooze: Snooze) =>
      respond(alerts, 'snooze', (id) => api.write('POST', `/api/alerts/${id}/snooze`, snooze, 'object')),
    [api, respond],
  )
  const post = useCallback(
    async (path: ResponsePath, text: string) => {
      const response = await send(() => api.write('POST', path, {}, 'object'))
      if (response === null) return
      if (response.ok) showMessage({ text })
      else showMessage({ text: response.problem.detail, tone: 'alarm' })
    },
    [api, send, showMessage],
  )
  const takeBack = (alert: AlertBody, undo: Undo) =>
    post(`/api/alerts/${alert.id}/${undo}`, t(`alerts.${undo}.done`, { alert: alertLine(alert) }))
  const markMuted = (channelId: number, name: string) =>
    post(`/api/channels/${channelId}/muted-on-purpose`, t('mute.done', { name }))
  return { isSending, acknowledge, snooze, takeBack, markMuted }
}

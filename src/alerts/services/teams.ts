/** Workflows of Microsoft Teams that post an adaptive card when they receive a request. */

import {
  acknowledgeLabel,
  listLines,
  type NotificationLine,
  toNotificationText,
  withoutLink,
} from '../../domain/notifications/text.ts'
import { post, type ReceivedResponse, secretsOf } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

/** Teams refuses messages of more than 28 KB. JSON may double the length of a text. */
const maxBodyBytes = 10_000

export const teams: NotificationService<'teams'> = {
  send(config, message, kit) {
    const { acknowledgeUrl, ...text } = withoutLink(toNotificationText(message, kit.publicUrl))
    const { severity } = text
    const lines = listLines({ ...text, url: null }, maxBodyBytes)
    const color = severity === 'critical' ? 'attention' : severity === 'warning' ? 'warning' : 'default'
    const actions = [
      ...(acknowledgeUrl === null ? [] : [openUrl(acknowledgeLabel, acknowledgeUrl)]),
      ...(text.url === null ? [] : [openUrl('Open Micwatch', text.url)]),
    ]
    const content = {
      type: 'AdaptiveCard',
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      version: '1.4',
      body: [
        paragraph([textRun(text.title, { weight: 'bolder', size: 'medium', color })]),
        ...lines.map((line) => paragraph(textRuns(line))),
      ],
      ...(actions.length > 0 && { actions }),
    }
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
    const url = new URL(config.url)
    const body = toJson({ type: 'message', attachments: [attachment] })
    return post({ url, name: 'Teams', body, secrets: secretsOf(url), findProblem }, kit)
  },
}

function openUrl(title: string, url: string): object {
  return { type: 'Action.OpenUrl', title, url }
}

function paragraph(inlines: readonly object[]): object {
  return { type: 'RichTextBlock', inlines }
}

function textRuns({ text, acknowledgeUrl }: NotificationLine): readonly object[] {
  if (acknowledgeUrl === null) return [textRun(text)]
  const selectAction = openUrl(acknowledgeLabel, acknowledgeUrl)
  return [textRun(`${text} `), textRun(acknowledgeLabel, { underline: true, selectAction })]
}

/** It contains no Markdown, unlike a `TextBlock`, but it may contain functions such as {{DATE()}}. */
function textRun(text: string, format: object = {}): object {
  return { type: 'TextRun', text: text.replace(/\{(?=\{)/g, '{ '), ...format }
}

/** Teams may respond with status 200 although it did not post the message. The response then contains an error. */
function findProblem({ text }: ReceivedResponse): string | null {
  return /failed|error/i.test(text)
    ? 'Teams accepted the request, but did not post the message. Check the workflow.'
    : null
}

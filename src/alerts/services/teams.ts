/** Workflows of Microsoft Teams that post an adaptive card when they receive a request. */

import { toNotificationBody, toNotificationText } from '../../domain/notifications/text.ts'
import { post, type ReceivedResponse, secretsOf } from './http.ts'
import { toJson } from './payload.ts'
import type { NotificationService } from './service.ts'

/** Teams refuses messages of more than 28 KB. JSON may double the length of a text. */
const maxBodyBytes = 10_000

export const teams: NotificationService<'teams'> = {
  send(config, message, kit) {
    const { severity, ...text } = toNotificationText(message, kit.publicUrl)
    const lines = toNotificationBody({ ...text, severity, url: null }, maxBodyBytes).split('\n')
    const color = severity === 'critical' ? 'attention' : severity === 'warning' ? 'warning' : 'default'
    const content = {
      type: 'AdaptiveCard',
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      version: '1.4',
      body: [
        textBlock(text.title, { weight: 'bolder', size: 'medium', color }),
        ...lines.map((line) => textBlock(line)),
      ],
      ...(text.url !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Open Micwatch', url: text.url }] }),
    }
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
    const url = new URL(config.url)
    const body = toJson({ type: 'message', attachments: [attachment] })
    return post({ url, name: 'Teams', body, secrets: secretsOf(url), findProblem }, kit)
  },
}

/** A paragraph. A text run contains no Markdown, unlike a `TextBlock`, but it may contain functions such as {{DATE()}}. */
function textBlock(text: string, format: Readonly<Record<string, string>> = {}): object {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: text.replace(/\{(?=\{)/g, '{ '), ...format }] }
}

/** Teams may respond with status 200 although it did not post the message. The response then contains an error. */
function findProblem({ text }: ReceivedResponse): string | null {
  return /failed|error/i.test(text)
    ? 'Teams accepted the request, but did not post the message. Check the workflow.'
    : null
}

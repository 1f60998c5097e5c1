import { useCallback, useMemo } from 'react'
import type { EventBody } from '../../src/contract/history.ts'
import type { Problem } from '../app/api.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { ChannelField } from '../parts/channels/channel-choice.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { changedFields, versionOf } from '../parts/forms/entries.ts'
import { Field, fromLocalInput, toLocalInput } from '../parts/forms/field.tsx'

export interface MarkerDraft {
  /** Null for a new marker. */
  readonly id: number | null
  readonly time: number
  readonly until: number | null
  readonly channelId: number | null
  readonly text: string
  readonly version?: number | undefined
}

export function draftOf(marker: EventBody): MarkerDraft {
  const { id, time, until, channel_id, text } = marker
  return {
    id,
    version: versionOf(marker),
    time: Date.parse(time),
    until: until === null ? null : Date.parse(until),
    channelId: channel_id,
    text: plainText(text),
  }
}

/** Keeps the milliseconds of `before` if the field was not changed. */
function readTime(text: string, before: number | null): number | null {
  if (before !== null && text === toLocalInput(before)) return before
  return fromLocalInput(text)
}

interface MarkerDialogProps {
  readonly draft: MarkerDraft
  onDone(): void
  onClose(): void
}

export function MarkerDialog({ draft, onDone, onClose }: MarkerDialogProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { id } = draft
  const change = useWatchState(({ eventChanges }) => eventChanges.findLast((found) => found.id === id))
  const latest = useMemo(() => change?.event && draftOf(change.event), [change])
  const read = (values: FormData, { time, until }: MarkerDraft = draft) => {
    const value = (name: string) => String(values.get(name) ?? '')
    return {
      ...{ start: readTime(value('time'), time), end: readTime(value('until'), until) },
      ...{ text: value('text').trim(), channel: value('channel_id') === '' ? null : Number(value('channel_id')) },
    }
  }
  const check = (values: FormData): Problem | null => {
    const { start, end, text } = read(values)
    const problem = (field: string, detail: string): Problem => ({ kind: 'refused', field, detail })
    if (text === '') return problem('text', t('timeline.markerText'))
    if (start === null) return problem('time', t('timeline.markerTime'))
    return end !== null && end < start ? problem('until', t('timeline.markerEnd')) : null
  }
  const bodyOf = (values: FormData, record: MarkerDraft) => {
    const { start, end, text, channel } = read(values, record)
    return {
      ...{
        time: new Date(start ?? record.time).toISOString(),
        until: end === null ? null : new Date(end).toISOString(),
      },
      ...{ channel_id: channel, text },
    }
  }
  return (
    <FormDialog
      title={id === null ? t('timeline.newMarker') : t('timeline.changeMarker')}
      action={id === null ? t('timeline.add') : t('timeline.save')}
      check={check}
      edit={{
        address: `/api/markers/${id ?? ''}`,
        record: draft as MarkerDraft | null,
        latest,
        read: (current) => draftOf(current as EventBody),
        canAdd: true,
      }}
      send={(values, { record, before, version }) => {
        const body = bodyOf(values, record ?? draft)
        return record === null || id === null
          ? api.write('POST', '/api/markers/', body, 'object')
          : api.write('PATCH', `/api/markers/${id}/`, changedFields(bodyOf(before, record), body), 'object', version)
      }}
      onDone={() => {
        showMessage({ text: id === null ? t('timeline.markerAdded') : t('timeline.markerSaved') })
        onDone()
      }}
      onClose={onClose}
    >
      {(record) => {
        const { text, channelId, time, until } = record ?? draft
        return (
          <>
            <Field name="text" label={t('timeline.text')} defaultValue={text} maxLength={500} required={true} />
            <ChannelField
              name="channel_id"
              label={t('timeline.channel')}
              initial={String(channelId ?? '')}
              others={[{ value: '', text: t('timeline.allChannels') }]}
            />
            <div className="field-columns">
              <Field
                name="time"
                label={t('timeline.start')}
                type="datetime-local"
                step={1}
                defaultValue={toLocalInput(time)}
              />
              <Field
                name="until"
                label={t('timeline.end')}
                type="datetime-local"
                step={1}
                required={false}
                defaultValue={until === null ? '' : toLocalInput(until)}
              />
            </div>
          </>
        )
      }}
    </FormDialog>
  )
}

export function useDeleteMarker(onDone: () => void): (event: EventBody) => Promise<void> {
  const { api } = useServices()
  const showMessage = useShowMessage()
  return useCallback(
    async (event) => {
      const { id, time, until, channel_id, text } = event
      const deleted = await api.write('DELETE', `/api/markers/${id}/`, undefined, 'nothing', versionOf(event))
      if (!deleted.ok) return showMessage({ text: deleted.problem.detail, tone: 'alarm' })
      onDone()
      const undo = async () => {
        const marker = { time, until, channel_id, text }
        const restored = await api.write('POST', '/api/markers/', marker, 'object')
        showMessage(
          restored.ok ? { text: t('timeline.markerRestored') } : { text: restored.problem.detail, tone: 'alarm' },
        )
        onDone()
      }
      showMessage({ text: t('timeline.markerDeleted'), undo })
    },
    [api, showMessage, onDone],
  )
}

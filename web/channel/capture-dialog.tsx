/** Records a capture, and shows the file before it is saved. */

import './capture.css'
import { useEffect, useRef, useState } from 'react'
import type { CaptureBody } from '../../src/contract/captures.ts'
import { captureMinutes } from '../../src/domain/captures.ts'
import type { Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { formatBytes, formatDuration } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useNow } from '../app/now.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { serviceNow } from '../app/service-time.ts'
import { CancelButton, Dialog } from '../parts/dialogs/dialog.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { Field, SelectField } from '../parts/forms/field.tsx'
import { Form } from '../parts/forms/form.tsx'
import { CaptureFile } from './capture-file.tsx'

interface CaptureDialogProps {
  /** Addresses of the receiver's sources. */
  readonly sources: readonly string[]
  onClose(): void
}

const pollMs = 1_000

/** Continues with the last capture of these sources, which goes on while the dialog is closed. */
export function CaptureDialog({ sources, onClose }: CaptureDialogProps) {
  const [id, setId] = useState(() => recallCapture(sources))
  const [ended, setEnded] = useState<CaptureBody | null>(null)
  const restart = () => {
    forgetCapture(sources)
    setEnded(null)
    setId(null)
  }
  const start = (capture: CaptureBody) => {
    rememberCapture(capture)
    setId(capture.id)
  }
  return (
    <Dialog title={t('capture.title')} onClose={onClose}>
      {id === null ? (
        <StartForm sources={sources} onStart={start} />
      ) : ended === null ? (
        <RunningCapture id={id} onEnd={setEnded} onGone={restart} onClose={onClose} />
      ) : (
        <EndedCapture capture={ended} onRestart={restart} onClose={onClose} />
      )}
    </Dialog>
  )
}

/** Keeps the focus in the dialog when the element that had it is gone. A dialog that opens has taken it before. */
function useFirstFocus<Element extends HTMLElement>() {
  const element = useRef<Element>(null)
  useEffect(() => element.current?.focus(), [])
  return element
}

interface StartFormProps extends Pick<CaptureDialogProps, 'sources'> {
  onStart(capture: CaptureBody): void
}

function StartForm({ sources, onStart }: StartFormProps) {
  const { api } = useServices()
  const send = (values: FormData) => {
    const address = String(values.get('address') ?? sources[0] ?? '')
    return api.write('POST', '/api/captures/', { address, minutes: Number(values.get('minutes')) }, 'object')
  }
  return (
    <Form action={t('capture.start')} send={send} onDone={onStart} others={<CancelButton />}>
      <p className="dialog-text">{t('capture.what')}</p>
      {sources.length === 1 ? null : (
        <SelectField
          name="address"
          label={t('capture.source')}
          options={sources.map((address) => ({ value: address, text: address }))}
        />
      )}
      <Field
        name="minutes"
        label={t('capture.minutes')}
        hint={t('capture.minutesHint', { most: captureMinutes.most })}
        type="number"
        min={0.1}
        max={captureMinutes.most}
        step="any"
        required={true}
        defaultValue={captureMinutes.usual}
      />
    </Form>
  )
}

interface RunningCaptureProps {
  readonly id: number
  onEnd(capture: CaptureBody): void
  /** The service no longer knows the capture. */
  onGone(): void
  onClose(): void
}

function RunningCapture({ id, onEnd, onGone, onClose }: RunningCaptureProps) {
  const { api } = useServices()
  const { body, problem } = useResource(`/api/captures/${id}/`, 'object', [], pollMs)
  const { send, isSending, problem: stopProblem } = useRequest()
  const stopButton = useFirstFocus<HTMLButtonElement>()
  useNow()
  useEffect(() => {
    if (body !== null && body.ended !== null) onEnd(body)
    else if (problem?.status === 404) onGone()
  }, [body, problem, onEnd, onGone])
  const stop = async () => {
    const response = await send(() => api.write('POST', `/api/captures/${id}/stop`, undefined, 'object'))
    if (response?.ok) onEnd(response.body)
  }
  const shownProblem = stopProblem ?? problem
  return (
    <>
      {body === null ? <p className="loading">{t('parts.loading')}</p> : <Progress capture={body} />}
      {shownProblem === null ? null : <ProblemLine problem={shownProblem} />}
      <p className="dialog-text">{t('capture.continues')}</p>
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onClose}>
          {t('live.keys.closeButton')}
        </button>
        <button type="button" className="choice" ref={stopButton} disabled={isSending} onClick={() => void stop()}>
          {isSending ? t('parts.form.sending') : t('capture.stop')}
        </button>
      </div>
    </>
  )
}

function Progress({ capture }: { capture: CaptureBody }) {
  const { address, started_at, ends_at, lines, bytes } = capture
  const [start, end] = [Date.parse(started_at), Date.parse(ends_at)]
  const left = Math.max(0, end - serviceNow())
  return (
    <div className="capture-progress">
      <p>
        <bdi>{address}</bdi>
      </p>
      <progress aria-label={t('capture.recording')} max={end - start} value={end - start - left} />
      <p className="capture-size">
        <span>{t('capture.left', { time: formatDuration(left) })}</span>
        <span>{t('capture.size', { count: lines, size: formatBytes(bytes) })}</span>
      </p>
    </div>
  )
}

interface EndedCaptureProps {
  readonly capture: CaptureBody
  onRestart(): void
  onClose(): void
}

function EndedCapture({ capture, onRestart, onClose }: EndedCaptureProps) {
  const { api, mount } = useServices()
  const [file, setFile] = useState<string | null>(null)
  const status = useFirstFocus<HTMLParagraphElement>()
  const [problem, setProblem] = useState<Problem | null>(null)
  const path = `/api/captures/${capture.id}/file` as const
  useEffect(() => {
    const cancel = new AbortController()
    void api.read(path, 'text', cancel.signal).then((response) => {
      if (cancel.signal.aborted) return
      if (response.ok) setFile(response.body)
      else setProblem(response.problem)
    })
    return () => cancel.abort()
  }, [api, path])
  return (
    <>
      <p className="dialog-text" role="status" tabIndex={-1} ref={status}>
        {capture.ended === null ? null : t(`capture.ended.${capture.ended}`)}{' '}
        {file === null ? t('capture.preparing') : t('capture.read')}
      </p>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {file === null ? null : <CaptureFile file={file} />}
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onClose}>
          {t('live.keys.closeButton')}
        </button>
        <button type="button" className="choice" onClick={onRestart}>
          {t('capture.another')}
        </button>
        {file === null ? null : (
          <a className="choice" data-tone="usual" href={`${mount}${path}`} download={true}>
            {t('capture.save')}
          </a>
        )}
      </div>
    </>
  )
}

// A reload of the page does not end a capture. Its id is kept until the browser is closed.

const keyOf = (address: string) => `capture ${address}`

function rememberCapture({ id, address }: CaptureBody): void {
  try {
    sessionStorage.setItem(keyOf(address), String(id))
  } catch {
    // Access was denied, so a closed dialog starts from the beginning.
  }
}

function recallCapture(sources: readonly string[]): number | null {
  try {
    const [id] = sources.flatMap((address) => sessionStorage.getItem(keyOf(address)) ?? [])
    return id === undefined ? null : Number(id)
  } catch {
    return null
  }
}

function forgetCapture(sources: readonly string[]): void {
  try {
    for (const address of sources) sessionStorage.removeItem(keyOf(address))
  } catch {
    // Nothing was stored.
  }
}

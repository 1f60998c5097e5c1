/** Questions about one manufacturer: a test of it as it is stored, to stop asking it, to delete it. */

import { useEffect, useState } from 'react'
import type { ConnectionTest, ManufacturerBody } from '../../src/model/manufacturer-api.ts'
import { isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { DeedDialog, Removal } from '../parts/deed-dialog.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ProblemLine } from '../parts/problem.tsx'
import { useSending } from '../reading.ts'
import { words } from '../words.ts'
import { nameOf } from './manufacturer-columns.tsx'
import { manufacturersPath } from './manufacturer-form.tsx'
import { TestResult } from './test-result.tsx'

const texts = words.manufacturers

interface DialogProps {
  readonly record: ManufacturerBody
  onClose(): void
}

/** Asks at once. */
export function TestDialog({ record, onClose }: DialogProps) {
  const { api } = useSurroundings()
  const { send, problem } = useSending()
  const [tested, setTested] = useState<ConnectionTest | null>(null)
  const { code } = record
  useEffect(() => {
    void send(() => api.write('POST', `${manufacturersPath}${code}/test`, undefined, isObject<ConnectionTest>)).then(
      (answer) => {
        if (answer?.ok) setTested(answer.body)
      },
    )
  }, [api, send, code])
  return (
    <Dialog title={texts.test.result(nameOf(record))} onClose={onClose}>
      <div className="dialog-text">
        {tested === null && problem === null ? <p role="status">{texts.test.testing}</p> : null}
        {tested === null ? null : <TestResult tested={tested} />}
        {problem === null ? null : <ProblemLine problem={problem} field={problem.field} />}
      </div>
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onClose}>
          {words.parts.dialog.close}
        </button>
      </div>
    </Dialog>
  )
}

interface QuestionProps extends DialogProps {
  onDone(): Promise<void>
}

export function DisableQuestion({ record, ...deed }: QuestionProps) {
  const { api } = useSurroundings()
  const { question, action, disabled, follows } = texts.enable
  const path = `${manufacturersPath}${record.code}/`
  return (
    <DeedDialog
      {...deed}
      title={question(nameOf(record))}
      action={action}
      tone="usual"
      done={disabled(nameOf(record))}
      write={() => api.write('PATCH', path, { api_enabled: false }, isObject)}
    >
      <p>{follows}</p>
    </DeedDialog>
  )
}

export function RemovalQuestion({ record, ...deed }: QuestionProps) {
  const { question, text, done, follows } = texts.removal
  return (
    <Removal
      {...deed}
      title={question(nameOf(record))}
      action={text}
      done={done(nameOf(record))}
      path={`${manufacturersPath}${record.code}/`}
    >
      <p>{follows}</p>
    </Removal>
  )
}

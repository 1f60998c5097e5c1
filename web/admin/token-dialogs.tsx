/** Questions about tokens: a new one, one for a screen, another end, none any more. */

import type { Group } from '../../src/model/api.ts'
import { pathOf } from '../../src/model/pages.ts'
import type { TokenBody } from '../../src/model/people.ts'
import { isList, isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { Removal } from '../parts/deed-dialog.tsx'
import { Field, SelectField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useSay } from '../parts/messages.tsx'
import { useReading } from '../reading.ts'
import { words } from '../words.ts'
import type { Made } from './made-token.tsx'
import { roleOptions } from './person-dialogs.tsx'
import { EndFields, endOf, endProblem } from './token-end.tsx'

const texts = words.tokens

const path = '/api/admin/tokens/'

export type TokenQuestion =
  | { readonly kind: 'create' | 'kiosk' }
  | { readonly kind: 'change' | 'revoke'; readonly token: TokenBody }

interface DialogProps {
  onMade(made: Made): void
  onDone(): Promise<void>
  onClose(): void
}

type NewToken = TokenBody & { readonly token: string }

export function TokenDialog({ question, ...rest }: DialogProps & { readonly question: TokenQuestion }) {
  switch (question.kind) {
    case 'create':
      return <Create {...rest} />
    case 'kiosk':
      return <KioskLink {...rest} />
    case 'change':
      return <Change token={question.token} {...rest} />
    case 'revoke':
      return <Revoke token={question.token} {...rest} />
    default:
      return question satisfies never
  }
}

/** The service decides what is over: its clock counts. */
function useServiceClock() {
  const { api } = useSurroundings()
  return () => Date.now() + api.clockAheadMs()
}

function Create({ onMade, onDone, onClose }: DialogProps) {
  const { api } = useSurroundings()
  const now = useServiceClock()
  const send = (values: FormData) => {
    const body = { name: values.get('name'), role: values.get('role'), expires_at: endOf(values, now()) }
    return api.write('POST', path, body, isObject<NewToken>)
  }
  const done = async ({ name, token }: NewToken) => {
    onClose()
    onMade({ name, token })
    await onDone()
  }
  return (
    <FormDialog
      title={texts.create}
      action={texts.createAction}
      check={(values) => endProblem(values, now())}
      send={send}
      onDone={done}
      onClose={onClose}
    >
      <Field name="name" label={texts.name} hint={texts.nameHint} autoComplete="off" maxLength={255} />
      <SelectField name="role" label={texts.role} options={roleOptions} />
      <EndFields />
    </FormDialog>
  )
}

function KioskLink({ onMade, onDone, onClose }: DialogProps) {
  const { api, mount } = useSurroundings()
  const now = useServiceClock()
  const groups = useReading('/api/groups/', isList<Group>).body ?? []
  const wall = mount + pathOf('wall')
  const shown = [
    { value: wall, text: texts.everything },
    ...groups.map(({ id, title }) => ({ value: `${wall}?group=${id}`, text: texts.group(plainText(title)) })),
    { value: mount + pathOf('desk'), text: texts.desk },
  ]
  const send = async (values: FormData) => {
    const body = { name: values.get('name'), role: 'viewer', expires_at: endOf(values, now()) }
    const answer = await api.write('POST', path, body, isObject<NewToken>)
    if (!answer.ok) return answer
    const { name, token } = answer.body
    return { ok: true, body: { name, token, next: String(values.get('next')) } } as const
  }
  const done = async (made: Made) => {
    onClose()
    onMade(made)
    await onDone()
  }
  return (
    <FormDialog
      title={texts.kiosk}
      action={texts.createAction}
      check={(values) => endProblem(values, now())}
      send={send}
      onDone={done}
      onClose={onClose}
    >
      <p className="hint">{texts.kioskHint}</p>
      <Field name="name" label={texts.name} hint={texts.screenHint} autoComplete="off" maxLength={255} />
      <SelectField name="next" label={texts.shows} options={shown} />
      <EndFields />
    </FormDialog>
  )
}

type AboutToken = Pick<DialogProps, 'onDone' | 'onClose'> & { readonly token: TokenBody }

function Change({ token, onDone, onClose }: AboutToken) {
  const { api } = useSurroundings()
  const say = useSay()
  const now = useServiceClock()
  const name = plainText(token.name)
  const send = (values: FormData) => {
    const body = { name: values.get('name'), role: values.get('role'), expires_at: endOf(values, now()) }
    return api.write('PATCH', `${path}${token.id}/`, body, isObject<TokenBody>)
  }
  const done = async () => {
    onClose()
    say({ text: texts.changed(name) })
    await onDone()
  }
  return (
    <FormDialog
      title={texts.changeTitle(name)}
      action={texts.save}
      check={(values) => endProblem(values, now())}
      send={send}
      onDone={done}
      onClose={onClose}
    >
      <Field name="name" label={texts.name} defaultValue={token.name} autoComplete="off" maxLength={255} />
      <SelectField name="role" label={texts.role} options={roleOptions} defaultValue={token.role} />
      <EndFields keep={true} />
    </FormDialog>
  )
}

function Revoke({ token, onDone, onClose }: AboutToken) {
  const name = plainText(token.name)
  return (
    <Removal
      title={texts.revokeTitle(name)}
      action={texts.revoke}
      done={texts.revoked(name)}
      path={`${path}${token.id}/`}
      {...{ onDone, onClose }}
    >
      <p>{texts.revokeFollows}</p>
    </Removal>
  )
}

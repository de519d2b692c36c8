import { expect, test } from 'vitest'
import { glossary, isAboutDevices, visibleDevices } from './devices'

test('the words a line uses are explained, comments are no code', () => {
  expect(glossary('torch.backends.cudnn.benchmark = True')).toEqual(['cuDNN'])
  expect(glossary('device = torch.device("cuda:0")')).toEqual(['CUDA'])
  expect(isAboutDevices('x = x * 2  # cuda later')).toBe(false)
  expect(isAboutDevices('')).toBe(false)
})

test('which GPUs a line leaves visible', () => {
  expect(visibleDevices('os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"')).toBe('0,1')
  expect(visibleDevices("os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')")).toBe('')
  expect(visibleDevices("os.environ.update({'CUDA_VISIBLE_DEVICES': '2'})")).toBe('2')
  expect(visibleDevices('os.environ["CUDA_VISIBLE_DEVICES"] = chosen')).toBeNull()
  expect(visibleDevices('print(os.environ["CUDA_VISIBLE_DEVICES"])')).toBeNull()
})

# The skills that ask a model about images, sound and film: an endpoint in the form of OpenAI's, which variables name.
_most_image_bytes = 20 * 1024 * 1024
_most_audio_bytes = 25 * 1024 * 1024
_most_answer_bytes = 1000000
_most_frames = 32
_answer_seconds = 120
_film_seconds = 600
# Of films alone: playlists and lists of pieces name other files, which the model would see.
_films = 'mov,matroska,avi,mpeg,mpegts,mpegvideo,flv,asf,ogg,gif,ivf,h264,hevc'
_image_marks = [(b'\x89PNG\r\n\x1a\n', 'png'), (b'\xff\xd8\xff', 'jpeg'), (b'GIF8', 'gif')]


def _endpoint(skill):
    key = os.environ.get('OPENAI_API_KEY') or os.environ.get('SANDBOX_ENV_OPENAI_API_KEY')
    address = os.environ.get('OPENAI_BASE_URL')
    if not key and not address:
        raise _Refused('%s asks a model, and none is named. Set OPENAI_API_KEY, and for an endpoint other than '
                       'OpenAI\'s OPENAI_BASE_URL, in the environment of the cell.' % skill)
    key = (key or '').strip()
    # The library names a header that it refuses, whole.
    if not all('!' <= letter <= '~' for letter in key):
        raise _Refused('OPENAI_API_KEY is no key: it holds a space, a line break or another letter that no key has.')
    return (address or 'https://api.openai.com/v1').strip().rstrip('/'), key


def _why(failure):
    # In words of the system alone: the library shows whole addresses, and an address may hold a password.
    import socket
    reason = getattr(failure, 'reason', failure)
    if isinstance(reason, socket.timeout):
        return 'it did not answer in time.'
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return 'it broke off, or OPENAI_BASE_URL is no address.'


def _ask(skill, path, body, content_type):
    from http.client import HTTPException
    from urllib import error, request

    class Stay(request.HTTPRedirectHandler):
        # A redirect would carry the key to another place.
        def redirect_request(self, *_):
            return None

    address, key = _endpoint(skill)
    headers = {'Content-Type': content_type}
    if key:
        headers['Authorization'] = 'Bearer ' + key
    try:
        asked = request.Request(address + path, data=body, headers=headers, method='POST')
        with request.build_opener(Stay).open(asked, timeout=_answer_seconds) as answer:
            text = answer.read(_most_answer_bytes + 1)
    except error.HTTPError as failure:
        # What an endpoint says of a key may show a part of it.
        failure.close()
        raise _Refused('The model of %s answered with status %d.' % (skill, failure.code))
    except (HTTPException, ValueError, OSError) as failure:
        raise _Refused('The model of %s cannot be reached: %s' % (skill, _why(failure)))
    if len(text) > _most_answer_bytes:
        raise _Refused('The answer of the model of %s is too long.' % skill)
    try:
        return json.loads(text.decode('utf-8'))
    except ValueError:
        raise _Refused('The answer of the model of %s is no JSON.' % skill)


def _bytes(path, most):
    found = _existing(path)
    with open(found, 'rb') as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _Refused('%s is larger than %d MB.' % (found, most // 1024 // 1024))
    return found, content


def _image_kind(path, content):
    for mark, kind in _image_marks:
        if content.startswith(mark):
            return kind
    if content[:4] == b'RIFF' and content[8:12] == b'WEBP':
        return 'webp'
    raise _Refused('%s is no image that a model takes: PNG, JPEG, GIF or WebP.' % path)


def _told(skill, task, path, content):
    import base64
    data = 'data:image/%s;base64,%s' % (_image_kind(path, content), base64.b64encode(content).decode('ascii'))
    question = {
        'model': os.environ.get('OPENAI_MODEL') or 'gpt-4o',
        'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': task},
                                                  {'type': 'image_url', 'image_url': {'url': data}}]}],
    }
    most = os.environ.get('MAX_TOKEN') or '500'
    if most.isdigit() and int(most) > 0:
        question['max_tokens'] = int(most)
    answer = _ask(skill, '/chat/completions', json.dumps(question).encode('utf-8'), 'application/json')
    try:
        text = answer['choices'][0]['message']['content']
    except (KeyError, IndexError, TypeError):
        text = None
    if not isinstance(text, str):
        raise _Refused('The model of %s gave no text.' % skill)
    return text.strip()


def _frames(path, interval, folder):
    import shutil
    program = shutil.which('ffmpeg')
    if program is None:
        raise _Refused('parse_video needs the program ffmpeg, which is not installed here. Install the package ffmpeg.')
    chosen = "select='not(mod(n,%d))',setpts=N/FRAME_RATE/TB,scale='min(1024,iw)':-2" % interval
    code, said = _film_program([program, '-nostdin', '-v', 'error', '-protocol_whitelist', 'file', '-format_whitelist', _films,
                                '-i', 'file:' + path, '-vf', chosen, '-frames:v', str(_most_frames),
                                os.path.join(folder, '%04d.jpg')])
    names = sorted(os.listdir(folder))
    if code != 0 or not names:
        raise _Refused('%s cannot be read as a film: %s' % (path, said.decode('utf-8', 'replace').strip()))
    for name in names:
        yield name, _bytes(os.path.join(folder, name), _most_image_bytes)[1]


def _film_program(command):
    import subprocess, threading
    late = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        timer = threading.Timer(_film_seconds, lambda: (late.append(True), running.kill()))
        timer.start()
        said = b''
        try:
            for piece in iter(lambda: running.stdout.read(4096), b''):
                said = (said + piece)[-500:]
            running.wait()
        finally:
            timer.cancel()
            running.kill()
    if late:
        raise _Refused('The film takes too long to read.')
    return running.returncode, said


@_skill
def parse_image(file_path: str, task: str = 'Describe this image in detail.'):
    """Asks a model about an image (PNG, JPEG, GIF or WebP).

    Args:
        file_path: the file
        task: the question to the model
    """
    _endpoint('parse_image')
    found, content = _bytes(file_path, _most_image_bytes)
    return '[Reading image file from %s]\n%s' % (found, _told('parse_image', task, found, content))


@_skill
def parse_audio(file_path: str, model: str = 'whisper-1'):
    """Gives the words that are spoken in a sound file.

    Args:
        file_path: the file
        model: the model that writes them down
    """
    _endpoint('parse_audio')
    found, content = _bytes(file_path, _most_audio_bytes)
    edge = uuid.uuid4().hex
    name = re.sub(r'[^\w.-]', '_', os.path.basename(found), flags=re.ASCII)
    body = b''.join([
        ('--%s\r\nContent-Disposition: form-data; name="model"\r\n\r\n%s\r\n' % (edge, model)).encode('utf-8'),
        ('--%s\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n'
         'Content-Type: application/octet-stream\r\n\r\n' % (edge, name)).encode('utf-8'),
        content,
        ('\r\n--%s--\r\n' % edge).encode('utf-8'),
    ])
    answer = _ask('parse_audio', '/audio/transcriptions', body, 'multipart/form-data; boundary=' + edge)
    text = answer.get('text') if isinstance(answer, dict) else None
    if not isinstance(text, str):
        raise _Refused('The model of parse_audio gave no text.')
    return '[Transcribing audio file from %s]\n%s' % (found, text.strip())


@_skill
def parse_video(file_path: str, task: str = 'Describe this image in detail.', frame_interval: int = 30):
    """Asks a model about frames of a film, at most 32. Needs the program ffmpeg.

    Args:
        file_path: the file
        task: the question to the model, once for each frame
        frame_interval: each frame of this number is looked at
    """
    import tempfile
    _endpoint('parse_video')
    found = _existing(file_path)
    if not isinstance(frame_interval, int) or frame_interval < 1:
        raise _Refused('frame_interval must be at least 1.')
    with tempfile.TemporaryDirectory() as folder:
        told = [_told('parse_video', task, name, content) for name, content in _frames(found, frame_interval, folder)]
    shown = '\n\n'.join('@@ Frame %d @@\n%s' % (index * frame_interval + 1, text) for index, text in enumerate(told))
    return '[Reading every frame number %d of the video file from %s]\n%s' % (frame_interval, found, shown)

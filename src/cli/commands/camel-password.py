# Gives the library `requests` the password of one server; other addresses get what they get without it. Python imports this
# file as `sitecustomize` at each start.
import importlib.machinery, json, os, sys

folder = os.path.dirname(os.path.abspath(__file__))


def add_password(utils):
    look_up = utils.get_netrc_auth

    def get_netrc_auth(url, raise_errors=False):
        return password_for(url, utils.urlparse) or look_up(url, raise_errors)

    utils.get_netrc_auth = get_netrc_auth


def password_for(url, parse):
    try:
        address = parse(url.decode() if isinstance(url, bytes) else url)
        origin = '%s:%s' % (address.hostname, address.port)
        with open(os.path.join(folder, 'server.json')) as file:
            server = json.load(file)
    except (OSError, ValueError):
        return None
    known = address.scheme == 'http' and origin in server['origins']
    return ('camel', server['token']) if known else None


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != 'requests.utils':
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and hasattr(spec.loader, 'exec_module'):
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                add_password(module)

            spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder)

# This file hides another one of its name, which belongs to the user's Python.
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != folder]
this = sys.modules.pop(__name__)
try:
    import sitecustomize
except ImportError as error:
    if error.name != 'sitecustomize':
        raise
finally:
    sys.modules.setdefault(__name__, this)
